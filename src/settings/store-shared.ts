import { boolean, oneOf, path, wholeNumber } from '../platform/env-table/scalars';
import { setting, timer, timerFromZero } from './setting';

/** Settings that apply to both key-value stores. */
export const sharedStoreTable = {
  certFile: setting('KVSTORE_TLS_CLIENT_CERT', path, { doc: 'file with the client certificate' }),
  keyFile: setting('KVSTORE_TLS_CLIENT_KEY', path, {
    doc: 'file with the key of the client certificate',
  }),
  caFile: setting('KVSTORE_TLS_CACERT', path, {
    doc: "file with the CA certificate that signed the store's certificate",
    whenUnset: "the system's certificate authorities",
  }),
  skipHostnameVerification: setting('KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION', boolean, {
    default: 'false',
    doc: "true accepts a certificate without the store's name",
  }),
  scripts: setting('KVSTORE_SCRIPTS', boolean, {
    default: 'true',
    doc: 'false sends plain INCRBY and EXPIRE, for proxies that refuse Lua scripts',
  }),
  startupInitialIntervalMs: setting('KVSTORE_STARTUP_INITIAL_INTERVAL', timer, {
    default: '1s',
    doc: 'first wait before reconnecting to an unreachable store',
  }),
  startupMaxIntervalMs: setting('KVSTORE_STARTUP_MAX_INTERVAL', timer, {
    default: '1s',
    doc: 'longest wait before reconnecting to an unreachable store',
  }),
  startupMaxElapsedMs: setting('KVSTORE_STARTUP_MAX_ELAPSED_TIME', timerFromZero, {
    default: '0',
    doc: 'the start fails with exit code 1 when the store is unreachable this long; 0 means never',
  }),
  cacheInvalidation: setting('KVSTORE_CACHE_INVALIDATION', boolean, {
    default: 'true',
    doc: 'true notifies the local caches of all instances, by PUBLISH, of counters that were reset or given back; no effect without a local cache',
  }),
  failureMode: setting('KVSTORE_FAILURE_MODE', oneOf('error', 'allow', 'deny', 'local'), {
    default: 'error',
    doc: 'answer while the store is unavailable: an error, OK, OVER_LIMIT, or a count in this process',
  }),
  failureReplicas: setting('KVSTORE_FAILURE_REPLICAS', wholeNumber(1, 1_000_000), {
    default: '1',
    doc: 'instances that share a limit while they count locally',
  }),
};

export const perSecondSwitchTable = {
  enabled: setting('KVSTORE_PERSECOND', boolean, {
    default: 'false',
    doc: 'true keeps the counters of limits per second in a store of their own',
  }),
};
