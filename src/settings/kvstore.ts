import { type CredentialsSource, credentials } from '../platform/credentials-source';
import type { TableReading } from '../platform/env-table/table';
import {
  boolean,
  oneOfInAnyCase,
  path,
  wholeNumber,
  word,
  oneOf,
} from '../platform/env-table/parsers';
import type { ClientTlsFiles } from '../platform/tls-files';
import { toTlsFiles } from './client-files';
import { optional, setting, timer, timerFromZero } from './setting';
import {
  expectedAddress,
  namesDatabase,
  parseRedisUrl,
  parseStoreAddress,
  type StorePlace,
} from './store-address';

/** Settings that apply to both key-value stores. */
export const sharedStoreTable = {
  certFile: optional('KVSTORE_TLS_CLIENT_CERT', path, 'unset', {
    doc: 'file with the client certificate',
  }),
  keyFile: optional('KVSTORE_TLS_CLIENT_KEY', path, 'unset', {
    doc: 'file with the key of the client certificate',
  }),
  caFile: optional('KVSTORE_TLS_CACERT', path, "the system's certificate authorities", {
    doc: "file with the CA certificate that signed the store's certificate",
  }),
  skipHostnameVerification: setting('KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION', boolean, 'false', {
    doc: "true accepts a certificate without the store's name",
  }),
  scripts: setting('KVSTORE_SCRIPTS', boolean, 'true', {
    doc: 'false sends plain INCRBY and EXPIRE, for proxies that refuse Lua scripts',
  }),
  startupInitialMs: setting('KVSTORE_STARTUP_INITIAL_INTERVAL', timer, '1s', {
    doc: 'first wait before reconnecting to an unreachable store',
  }),
  startupMaxMs: setting('KVSTORE_STARTUP_MAX_INTERVAL', timer, '1s', {
    doc: 'longest wait before reconnecting to an unreachable store',
  }),
  startupMaxElapsedMs: setting('KVSTORE_STARTUP_MAX_ELAPSED_TIME', timerFromZero, '0', {
    doc: 'the start fails with exit code 1 when the store is unreachable this long; 0 means never',
  }),
  cacheInvalidation: setting('KVSTORE_CACHE_INVALIDATION', boolean, 'true', {
    doc: 'true notifies the local caches of all instances, by PUBLISH, of counters that were reset or given back; no effect without a local cache',
  }),
  onStoreError: setting('KVSTORE_FAILURE_MODE', oneOf('error', 'allow', 'deny', 'local'), 'error', {
    doc: 'answer while the store is unavailable: an error, OK, OVER_LIMIT, or a count in this process',
  }),
  failureReplicas: setting('KVSTORE_FAILURE_REPLICAS', wholeNumber(1, 1_000_000), '1', {
    doc: 'instances that share a limit while they count locally',
  }),
};

export const perSecondSwitchTable = {
  enabled: setting('KVSTORE_PERSECOND', boolean, 'false', {
    doc: 'true keeps the counters of limits per second in a store of their own',
  }),
};

/** The settings that exist once for each key-value store. */
export function storeTable(prefix: 'KVSTORE' | 'KVSTORE_PERSECOND') {
  const nameOf = (suffix: string) => `${prefix}_${suffix}`;
  return {
    socketType: optional(
      nameOf('SOCKET_TYPE'),
      oneOfInAnyCase('tcp', 'unix'),
      'derived from the URL',
      {
        doc: 'tcp or unix',
      },
    ),
    type: setting(nameOf('TYPE'), oneOfInAnyCase('single', 'sentinel', 'cluster'), 'single', {
      doc: 'single, sentinel or cluster',
    }),
    url: optional(nameOf('URL'), word, 'unset', {
      doc: 'single: <host>:<port>, redis://<host>:<port>/<database> or a path; sentinel: <master>[/<database>],<host>:<port>,…; cluster: <host>:<port>,…',
    }),
    poolSize: setting(nameOf('POOL_SIZE'), wholeNumber(1, 10_000), '10', {
      doc: 'connections that are kept',
    }),
    timeoutMs: setting(nameOf('TIMEOUT'), timer, '10s', {
      doc: 'longest time for connecting, writing and reading',
    }),
    poolOnEmptyBehavior: setting(
      nameOf('POOL_ON_EMPTY_BEHAVIOR'),
      oneOfInAnyCase('create', 'error', 'wait'),
      'CREATE',
      {
        doc: 'no connection free: CREATE another or answer an ERROR after the wait, or WAIT for one',
      },
    ),
    poolOnEmptyWaitMs: setting(nameOf('POOL_ON_EMPTY_WAIT_DURATION'), timerFromZero, '1s', {
      doc: 'wait before CREATE or ERROR acts',
    }),
    pipelineWindowMs: setting(nameOf('PIPELINE_WINDOW'), timerFromZero, '0', {
      doc: 'time for which requests are gathered into one write; 0 writes at once; needed by cluster',
    }),
    pipelineLimit: setting(nameOf('PIPELINE_LIMIT'), wholeNumber(0), '0', {
      isDeprecated: true,
      doc: 'no effect',
    }),
    clusterParallelism: setting(
      nameOf('CLUSTER_PIPELINE_PARALLELISM'),
      wholeNumber(0, 10_000),
      '0',
      { doc: 'nodes of a cluster that are called at the same time; 0 means all' },
    ),
    tls: setting(nameOf('TLS'), boolean, 'false', { doc: 'true speaks TLS to the store' }),
    auth: optional(nameOf('AUTH'), credentials, 'none', {
      secret: true,
      doc: '<PASSWORD> or <USERNAME>:<PASSWORD>',
    }),
    authFile: optional(nameOf('AUTH_FILE'), path, 'none', {
      doc: 'file that holds these credentials, read again for each connection',
    }),
    sentinelAuth: optional(nameOf('SENTINEL_AUTH'), credentials, 'none', {
      secret: true,
      doc: '<PASSWORD> or <USERNAME>:<PASSWORD> of the sentinels',
    }),
    sentinelAuthFile: optional(nameOf('SENTINEL_AUTH_FILE'), path, 'none', {
      doc: 'file that holds the credentials of the sentinels, read again for each connection',
    }),
  };
}

export const kvstoreTable = storeTable('KVSTORE');
export const perSecondStoreTable = storeTable('KVSTORE_PERSECOND');

type StoreReading = TableReading<ReturnType<typeof storeTable>>;
type SharedReading = TableReading<typeof sharedStoreTable>;

/** Placeholder where the address is a problem already. */
const NOWHERE: StorePlace = { address: { kind: 'tcp', host: 'localhost', port: 0 }, database: 0 };

function toPlace(reading: StoreReading): StorePlace {
  const { url, type, socketType } = reading.values;
  if (url === undefined) return NOWHERE;
  const isMany = type !== 'single';
  if (isMany && socketType === 'unix')
    reading.refuse('socketType', `tcp when ${reading.describe('type')}`);
  const place = parseStoreAddress(url, type, socketType);
  if (place !== undefined) return place;
  const expected =
    type === 'cluster' && namesDatabase(url)
      ? 'no database: a cluster has database 0 only'
      : expectedAddress(type, socketType);
  reading.refuse('url', expected);
  return NOWHERE;
}

/** Gathering writes is required for a cluster (document, cache store). */
export function checkCluster(reading: StoreReading): void {
  const { type, pipelineWindowMs } = reading.values;
  if (type !== 'cluster' || pipelineWindowMs > 0) return;
  const needed = reading.describe('pipelineWindowMs');
  reading.refuse('type', `${needed} to be above 0, for example 150us`);
}

function toTls(reading: StoreReading, shared: SharedReading): ClientTlsFiles | undefined {
  const isAskedByUrl = parseRedisUrl(reading.values.url ?? '')?.tls === true;
  if (!reading.values.tls && !isAskedByUrl) return undefined;
  const { skipHostnameVerification } = shared.values;
  return { ...toTlsFiles(shared), skipHostnameVerification };
}

/** Credentials together with a file of credentials are a problem. */
function toAuth(
  reading: StoreReading,
  [auth, authFile]: readonly ['auth', 'authFile'] | readonly ['sentinelAuth', 'sentinelAuthFile'],
): CredentialsSource | undefined {
  const file = reading.values[authFile];
  if (file === undefined) return reading.values[auth];
  if (reading.isSet(auth)) reading.refuse(authFile, `${reading.describe(auth)} not to be set too`);
  return { file };
}

/** One store from its own settings and those that both stores share. */
export function toStore(reading: StoreReading, shared: SharedReading) {
  const { values } = reading;
  const { timeoutMs, pipelineWindowMs, clusterParallelism } = values;
  const { scripts, cacheInvalidation, startupInitialMs, startupMaxMs, startupMaxElapsedMs } =
    shared.values;
  const url = parseRedisUrl(values.url ?? '');
  return {
    ...toPlace(reading),
    timeoutMs,
    pipelineWindowMs,
    clusterParallelism,
    scripts,
    cacheInvalidation,
    tls: toTls(reading, shared),
    auth: toAuth(reading, ['auth', 'authFile']) ?? url?.auth,
    sentinelAuth: toAuth(reading, ['sentinelAuth', 'sentinelAuthFile']),
    startupInitialMs,
    startupMaxMs,
    startupMaxElapsedMs,
    pool: {
      size: values.poolSize,
      onEmpty: values.poolOnEmptyBehavior,
      onEmptyWaitMs: values.poolOnEmptyWaitMs,
    },
  };
}

/** One key-value store; the per-second store has the same shape. */
export type StoreSettings = ReturnType<typeof toStore>;
