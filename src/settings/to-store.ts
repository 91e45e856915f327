import type { Findings, Reading } from '../platform/env-table/read-table';
import { parseRedisUrl } from './redis-url';
import { expectedAddress, parseStoreAddress, type StoreAddress } from './store-address';
import type { StoreSettings, storeTable, StoreTlsSettings } from './store';
import type { sharedStoreTable } from './store-shared';
import { readTlsFiles } from './tls';

type StoreReading = Reading<ReturnType<typeof storeTable>>;
type SharedReading = Reading<typeof sharedStoreTable>;

/** Stands in where the address is a problem already. */
const NOWHERE: StoreAddress = { kind: 'tcp', host: 'localhost', port: 0 };

function toAddress(reading: StoreReading, findings: Findings): StoreAddress {
  const { url, type, socketType } = reading.values;
  if (url === undefined) return NOWHERE;
  const isMany = type !== 'single';
  if (isMany && socketType === 'unix') {
    findings.problems.push(
      `${reading.shown('socketType')}: expected tcp when ${reading.shown('type')}`,
    );
  }
  const address = parseStoreAddress(url, type, socketType);
  if (address !== undefined) return address;
  const expected = expectedAddress(type, socketType);
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

/** One store from its own settings and those that both stores share. */
export function toStore(
  reading: StoreReading,
  shared: SharedReading,
  findings: Findings,
): StoreSettings {
  const { values } = reading;
  const url = parseRedisUrl(values.url ?? '');
  return {
    address: toAddress(reading, findings),
    timeoutMs: values.timeoutMs,
    pipelineWindowMs: values.pipelineWindowMs,
    tls: toTls(reading, shared, findings),
    auth: values.auth ?? url?.auth,
    sentinelAuth: values.sentinelAuth,
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
