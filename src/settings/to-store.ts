import type { CredentialsSource } from '../platform/credentials-source';
import type { Findings, Reading } from '../platform/env-table/read-table';
import { parseRedisUrl } from './redis-url';
import {
  expectedAddress,
  namesDatabase,
  parseStoreAddress,
  type StorePlace,
} from './store-address';
import type { StoreSettings, storeTable, StoreTlsSettings } from './store';
import type { sharedStoreTable } from './store-shared';
import { readTlsFiles } from './tls';

type StoreReading = Reading<ReturnType<typeof storeTable>>;
type SharedReading = Reading<typeof sharedStoreTable>;

/** Stands in where the address is a problem already. */
const NOWHERE: StorePlace = { address: { kind: 'tcp', host: 'localhost', port: 0 }, database: 0 };

function toPlace(reading: StoreReading, findings: Findings): StorePlace {
  const { url, type, socketType } = reading.values;
  if (url === undefined) return NOWHERE;
  const isMany = type !== 'single';
  if (isMany && socketType === 'unix') {
    findings.problems.push(
      `${reading.shown('socketType')}: expected tcp when ${reading.shown('type')}`,
    );
  }
  const place = parseStoreAddress(url, type, socketType);
  if (place !== undefined) return place;
  const expected =
    type === 'cluster' && namesDatabase(url)
      ? 'no database: a cluster has database 0 only'
      : expectedAddress(type, socketType);
  findings.problems.push(`${reading.shown('url')}: expected ${expected}`);
  return NOWHERE;
}

/** Gathering writes is required for a cluster (document, cache store). */
export function checkCluster(reading: StoreReading, findings: Findings): void {
  const { type, pipelineWindowMs } = reading.values;
  if (type !== 'cluster' || pipelineWindowMs > 0) return;
  findings.problems.push(
    `${reading.shown('type')}: expected ${reading.shown('pipelineWindowMs')} to be above 0, for example 150us`,
  );
}

function toTls(
  reading: StoreReading,
  shared: SharedReading,
  findings: Findings,
): StoreTlsSettings | undefined {
  const isAskedByUrl = parseRedisUrl(reading.values.url ?? '')?.tls === true;
  if (!reading.values.tls && !isAskedByUrl) return undefined;
  const { skipHostnameVerification } = shared.values;
  return { ...readTlsFiles(shared, findings), skipHostnameVerification };
}

/** Both the credentials and a file that holds them are a problem. */
function toAuth(
  reading: StoreReading,
  [auth, authFile]: readonly ['auth', 'authFile'] | readonly ['sentinelAuth', 'sentinelAuthFile'],
  findings: Findings,
): CredentialsSource | undefined {
  const file = reading.values[authFile];
  if (file === undefined) return reading.values[auth];
  if (reading.isSet(auth)) {
    findings.problems.push(
      `${reading.shown(authFile)}: expected ${reading.shown(auth)} not to be set too`,
    );
  }
  return { file };
}

/** One store from its own settings and those that both stores share. */
export function toStore(
  reading: StoreReading,
  shared: SharedReading,
  findings: Findings,
): StoreSettings {
  const { values } = reading;
  const url = parseRedisUrl(values.url ?? '');
  return {
    ...toPlace(reading, findings),
    timeoutMs: values.timeoutMs,
    pipelineWindowMs: values.pipelineWindowMs,
    tls: toTls(reading, shared, findings),
    auth: toAuth(reading, ['auth', 'authFile'], findings) ?? url?.auth,
    sentinelAuth: toAuth(reading, ['sentinelAuth', 'sentinelAuthFile'], findings),
    scripts: shared.values.scripts,
    startup: {
      initialIntervalMs: shared.values.startupInitialIntervalMs,
      maxIntervalMs: shared.values.startupMaxIntervalMs,
      maxElapsedMs: shared.values.startupMaxElapsedMs,
    },
    pool: {
      size: values.poolSize,
      onEmpty: values.poolOnEmptyBehavior,
      onEmptyWaitMs: values.poolOnEmptyWaitMs,
    },
    clusterPipelineParallelism: values.clusterPipelineParallelism,
  };
}
