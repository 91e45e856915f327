import { boolean } from '../platform/env-table/booleans';
import type { CredentialsSource } from '../platform/credentials-source';
import { credentials } from '../platform/env-table/credentials';
import { wholeNumber } from '../platform/env-table/numbers';
import type { Parser } from '../platform/env-table/parser';
import { type Description, setting } from '../platform/env-table/setting';
import { oneOfInAnyCase, path, word } from '../platform/env-table/texts';
import { timer, timerFromZero } from './durations';
import { formerNames } from './former-names';
import type { StoreAddress } from './store-address';
import type { TlsFiles } from './tls';

const TYPES = { single: 'single', sentinel: 'sentinel', cluster: 'cluster' } as const;
const SOCKETS = { tcp: 'tcp', unix: 'unix' } as const;
const ON_EMPTY = { create: 'create', error: 'error', wait: 'wait' } as const;

/** The settings that exist once for each key-value store. */
export function storeTable(prefix: 'KVSTORE' | 'KVSTORE_PERSECOND') {
  function withDefault<T>(
    name: string,
    parser: Parser<T>,
    description: Description & { readonly default: string },
  ) {
    const full = `${prefix}_${name}`;
    return setting(full, parser, { aliases: formerNames(full), ...description });
  }
  function optional<T>(name: string, parser: Parser<T>, description: Description) {
    const full = `${prefix}_${name}`;
    return setting(full, parser, { aliases: formerNames(full), ...description });
  }
  return {
    socketType: optional('SOCKET_TYPE', oneOfInAnyCase(SOCKETS), {
      doc: 'tcp or unix',
      whenUnset: 'as the URL looks',
    }),
    type: withDefault('TYPE', oneOfInAnyCase(TYPES), {
      default: 'single',
      doc: 'single, sentinel or cluster',
    }),
    url: optional('URL', word, {
      doc: 'single: <host>:<port>, redis://<host>:<port>/<database> or a path; sentinel: <master>[/<database>],<host>:<port>,…; cluster: <host>:<port>,…',
    }),
    poolSize: withDefault('POOL_SIZE', wholeNumber(1, 10_000), {
      default: '10',
      doc: 'connections that are kept',
    }),
    timeoutMs: withDefault('TIMEOUT', timer, {
      default: '10s',
      doc: 'longest time for connecting, writing and reading',
    }),
    poolOnEmptyBehavior: withDefault('POOL_ON_EMPTY_BEHAVIOR', oneOfInAnyCase(ON_EMPTY), {
      default: 'CREATE',
      doc: 'no connection free: CREATE another or answer an ERROR after the wait, or WAIT for one',
    }),
    poolOnEmptyWaitMs: withDefault('POOL_ON_EMPTY_WAIT_DURATION', timerFromZero, {
      default: '1s',
      doc: 'wait before CREATE or ERROR acts',
    }),
    pipelineWindowMs: withDefault('PIPELINE_WINDOW', timerFromZero, {
      default: '0',
      doc: 'time for which requests are gathered into one write; 0 writes at once; needed by cluster',
    }),
    pipelineLimit: withDefault('PIPELINE_LIMIT', wholeNumber(0), {
      default: '0',
      deprecated: true,
      doc: 'no effect',
    }),
    clusterPipelineParallelism: withDefault(
      'CLUSTER_PIPELINE_PARALLELISM',
      wholeNumber(0, 10_000),
      {
        default: '0',
        doc: 'nodes of a cluster that are asked at the same time; 0 means all',
      },
    ),
    tls: withDefault('TLS', boolean, { default: 'false', doc: 'true speaks TLS to the store' }),
    auth: optional('AUTH', credentials, {
      secret: true,
      doc: '<PASSWORD> or <USERNAME>:<PASSWORD>',
      whenUnset: 'none',
    }),
    authFile: optional('AUTH_FILE', path, {
      doc: 'file that holds these credentials, read again for each connection',
      whenUnset: 'none',
    }),
    sentinelAuth: optional('SENTINEL_AUTH', credentials, {
      secret: true,
      doc: '<PASSWORD> or <USERNAME>:<PASSWORD> of the sentinels',
      whenUnset: 'none',
    }),
    sentinelAuthFile: optional('SENTINEL_AUTH_FILE', path, {
      doc: 'file that holds the credentials of the sentinels, read again for each connection',
      whenUnset: 'none',
    }),
  };
}

export interface StoreTlsSettings extends TlsFiles {
  readonly skipHostnameVerification: boolean;
}

/** One key-value store; the per-second store has the same shape. */
export interface StoreSettings {
  readonly address: StoreAddress;
  readonly database: number;
  /** Longest time for connecting, writing and reading. */
  readonly timeoutMs: number;
  /** Time for which requests are gathered, with fraction (150us is 0.15); 0: the end of the turn. */
  readonly pipelineWindowMs: number;
  readonly tls: StoreTlsSettings | undefined;
  readonly auth: CredentialsSource | undefined;
  readonly sentinelAuth: CredentialsSource | undefined;
  /** False: never send Lua scripts. */
  readonly scripts: boolean;
  /** Waits between attempts to connect. */
  readonly startup: {
    readonly initialIntervalMs: number;
    readonly maxIntervalMs: number;
    /** 0: try for ever. */
    readonly maxElapsedMs: number;
  };
  readonly pool: {
    readonly size: number;
    readonly onEmpty: 'create' | 'error' | 'wait';
    readonly onEmptyWaitMs: number;
  };
  /** Nodes asked at the same time; 0: all. */
  readonly clusterPipelineParallelism: number;
}
