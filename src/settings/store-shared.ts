import { boolean } from '../platform/env-table/booleans';
import { wholeNumber } from '../platform/env-table/numbers';
import { type Description, setting } from '../platform/env-table/setting';
import { oneOf, path } from '../platform/env-table/texts';
import { timer, timerFromZero } from './durations';
import { formerNames } from './former-names';

const SCRIPTS = 'KVSTORE_SCRIPTS';
const INITIAL_INTERVAL = 'KVSTORE_STARTUP_INITIAL_INTERVAL';
const MAX_INTERVAL = 'KVSTORE_STARTUP_MAX_INTERVAL';
const MAX_ELAPSED_TIME = 'KVSTORE_STARTUP_MAX_ELAPSED_TIME';
const SKIP_VERIFICATION = 'KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION';
const FAILURE_MODE = 'KVSTORE_FAILURE_MODE';
const FAILURE_REPLICAS = 'KVSTORE_FAILURE_REPLICAS';

function file(name: string, description: Description) {
  return setting(name, path, { aliases: formerNames(name), ...description });
}

/** Settings that hold for both key-value stores. */
export const sharedStoreTable = {
  certFile: file('KVSTORE_TLS_CLIENT_CERT', { doc: 'file with the client certificate' }),
  keyFile: file('KVSTORE_TLS_CLIENT_KEY', { doc: 'file with the key of the client certificate' }),
  caFile: file('KVSTORE_TLS_CACERT', {
    doc: "file with the authority that signs the store's certificate",
    whenUnset: "the system's authorities",
  }),
  skipHostnameVerification: setting(SKIP_VERIFICATION, boolean, {
    default: 'false',
    aliases: formerNames(SKIP_VERIFICATION),
    doc: "true takes a certificate that does not hold the store's name",
  }),
  scripts: setting(SCRIPTS, boolean, {
    default: 'true',
    aliases: formerNames(SCRIPTS),
    doc: 'false sends plain INCRBY and EXPIRE, for proxies that refuse Lua scripts',
  }),
  startupInitialIntervalMs: setting(INITIAL_INTERVAL, timer, {
    default: '1s',
    aliases: formerNames(INITIAL_INTERVAL),
    doc: 'first wait before connecting again to a store that is away',
  }),
  startupMaxIntervalMs: setting(MAX_INTERVAL, timer, {
    default: '1s',
    aliases: formerNames(MAX_INTERVAL),
    doc: 'longest wait before connecting again to a store that is away',
  }),
  startupMaxElapsedMs: setting(MAX_ELAPSED_TIME, timerFromZero, {
    default: '0',
    aliases: formerNames(MAX_ELAPSED_TIME),
    doc: 'the start gives up with exit code 1 when the store is away this long; 0 means never',
  }),
  failureMode: setting(FAILURE_MODE, oneOf('error', 'allow', 'deny', 'local'), {
    default: 'error',
    aliases: formerNames(FAILURE_MODE),
    doc: 'answer while the store is away: an error, OK, OVER_LIMIT, or a count in this process',
  }),
  failureReplicas: setting(FAILURE_REPLICAS, wholeNumber(1, 1_000_000), {
    default: '1',
    aliases: formerNames(FAILURE_REPLICAS),
    doc: 'instances that share a limit while they count locally',
  }),
};
