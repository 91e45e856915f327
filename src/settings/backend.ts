import { synonyms, wholeNumber } from '../platform/env-table/parsers';
import { type ClientFile, clientFiles, CREDENTIALS_FILES, TLS_FILES } from './client-files';
import { checkMemstore, memstoreTable, toMemstore } from './memstore';
import { type Misspelt, optional, type Read, setting } from './setting';
import {
  checkCluster,
  kvstoreTable,
  perSecondStoreTable,
  toStore,
  perSecondSwitchTable,
  sharedStoreTable,
} from './kvstore';

const BACKENDS = {
  kvstore: 'kvstore',
  redis: 'kvstore',
  memstore: 'memstore',
  memcache: 'memstore',
  memory: 'memory',
} as const;

export type Backend = (typeof BACKENDS)[keyof typeof BACKENDS];

export const backendTable = {
  type: optional('BACKEND_TYPE', synonyms(BACKENDS), 'the first that has an address, else memory', {
    doc: 'where counters live: kvstore (redis), memstore (memcache), or memory (this process)',
  }),
};

export const memoryTable = {
  maxKeys: setting('MEMORY_MAX_KEYS', wholeNumber(1), '1000000', {
    doc: 'memory: most counters that are kept at the same time',
  }),
  maxBytes: optional(
    'MEMORY_MAX_BYTES',
    wholeNumber(1_048_576),
    '536870912, or half of what the heap may hold where that is less',
    {
      doc: 'memory: most bytes that these counters may take, some 100 for each of a fixed window and 130 of another algorithm, with keys of 35 bytes',
    },
  ),
};

function readAll(read: Read) {
  return {
    backend: read(backendTable),
    memory: read(memoryTable),
    store: read(kvstoreTable),
    shared: read(sharedStoreTable),
    perSecondSwitch: read(perSecondSwitchTable),
    perSecond: read(perSecondStoreTable),
    memstore: read(memstoreTable),
  };
}

type StoreReadings = ReturnType<typeof readAll>;

function checkAddress(kind: Backend, { backend, store, memstore }: StoreReadings): void {
  if (kind === 'kvstore' && !store.isSet('url'))
    backend.refuse('type', `${store.describe('url')} to be set`);
  if (kind === 'memstore' && !memstore.isSet('nodes') && !memstore.isSet('srv'))
    backend.refuse(
      'type',
      `${memstore.describe('nodes')} or ${memstore.describe('srv')} to be set`,
    );
}

/** The kind of store in use: as configured, else the first with an address, else memory (behaviour.md §1.3). */
function chooseBackend(readings: StoreReadings): Backend {
  const { backend, store, memstore } = readings;
  const { type } = backend.values;
  if (type !== undefined) {
    checkAddress(type, readings);
    return type;
  }
  if (store.isSet('url')) return 'kvstore';
  if (memstore.isSet('nodes') || memstore.isSet('srv')) return 'memstore';
  const names = [store.describe('url'), memstore.describe('nodes'), memstore.describe('srv')];
  backend.warn(
    `neither ${names.join(' nor ')} is set: counters live in the ` +
      'memory of this process, other instances do not see them and a restart forgets them',
  );
  return 'memory';
}

function filesOf(
  { store, shared, perSecond, memstore }: StoreReadings,
  used: Readonly<Record<'store' | 'perSecondStore' | 'memstore', { tls: unknown } | undefined>>,
): readonly ClientFile[] {
  const hasTls = used.store?.tls !== undefined || used.perSecondStore?.tls !== undefined;
  return [
    ...(hasTls ? clientFiles(shared, TLS_FILES) : []),
    ...(used.store === undefined ? [] : clientFiles(store, CREDENTIALS_FILES, 'credentials')),
    ...(used.perSecondStore === undefined
      ? []
      : clientFiles(perSecond, CREDENTIALS_FILES, 'credentials')),
    ...(used.memstore?.tls === undefined ? [] : clientFiles(memstore, TLS_FILES)),
  ];
}

/** Whether per-second limits have a store of their own; a split without both addresses is a problem. */
function isSplit(kind: Backend, readings: StoreReadings): boolean {
  const { backend, perSecondSwitch, store, perSecond } = readings;
  const isAnotherBackend = kind !== 'kvstore' && backend.isSet('type');
  if (kind === 'kvstore' && !perSecondSwitch.values.enabled && perSecond.isSet('url')) {
    const given = perSecond.describe('url');
    const on = `${perSecond.nameOf('url').replace(/_URL$/, '')}=true`;
    const main = store.nameOf('url');
    perSecond.warn(
      `${given} has no effect without ${on}: limits per second are counted at ${main}`,
    );
  }
  if (!perSecondSwitch.values.enabled || isAnotherBackend || kind === 'memstore') return false;
  // In the words of the switch: REDIS_PERSECOND goes with REDIS_URL.
  const given = perSecondSwitch.nameOf('enabled');
  if (!store.isSet('url'))
    perSecondSwitch.refuse('enabled', `${given.replace('_PERSECOND', '')}_URL to be set`);
  if (!perSecond.isSet('url')) perSecondSwitch.refuse('enabled', `${given}_URL to be set`);
  checkCluster(perSecond);
  return true;
}

/** Settings of a store without its address: counting in memory would be a surprise, so the start ends. */
function checkForgottenAddress(
  { store, shared, perSecondSwitch, perSecond, memstore }: StoreReadings,
  misspelt: readonly Misspelt[],
): void {
  const isAddress = ({ meant }: Misspelt) => /^(?:KVSTORE|REDIS)_(?:PERSECOND_)?URL$/.test(meant);
  if (perSecondSwitch.values.enabled) return;
  const addresses = misspelt.filter(isAddress);
  const given = [
    ...addresses.map(({ name }) => name),
    ...[store, shared, perSecond].flatMap((reading) => reading.given),
  ];
  if (given[0] !== undefined) {
    const others = given.length > 1 ? ` (and ${String(given.length - 1)} more)` : '';
    store.problem(
      `${given[0]}${others}: expected ${addresses[0]?.meant ?? store.describe('url')} to be set too, or BACKEND_TYPE=memory to count in this process`,
    );
  }
  if (memstore.given[0] !== undefined) {
    store.problem(
      `${memstore.given[0]}: expected ${memstore.describe('nodes')} or ${memstore.describe('srv')} to be set too`,
    );
  }
}

/** What is missing for Redis, by the operator's names; undefined: nothing. */
function missingForRedis(kind: Backend, { backend, store }: StoreReadings): string | undefined {
  if (kind === 'kvstore') return undefined;
  const missing = [
    ...(store.isSet('url') ? [] : [`${store.describe('url')} to be set`]),
    ...(backend.isSet('type') ? [`${backend.describe('type')} to be kvstore`] : []),
  ];
  return missing.join(' and ');
}

/** All settings of the counter stores. */
export function readStores(read: Read, misspelt: readonly Misspelt[]) {
  const readings = readAll(read);
  const { backend, memory, store, shared, perSecond, memstore } = readings;
  checkMemstore(memstore);
  const kind = chooseBackend(readings);
  if (kind === 'memory' && !backend.isSet('type')) checkForgottenAddress(readings, misspelt);
  if (kind === 'kvstore') checkCluster(store);
  const main = toStore(store, shared);
  const second = toStore(perSecond, shared);
  const { onStoreError, failureReplicas } = shared.values;
  const used = {
    // Each is defined only for its backend.
    store: kind === 'kvstore' ? main : undefined,
    perSecondStore: isSplit(kind, readings) ? second : undefined,
    memstore: kind === 'memstore' ? toMemstore(memstore) : undefined,
  };
  return {
    backend: kind,
    ...used,
    files: filesOf(readings, used),
    redisExpected: missingForRedis(kind, readings),
    storeFailure: { onStoreError, failureReplicas },
    memory: memory.values,
  };
}
