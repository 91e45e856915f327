import type { TableReading } from '../platform/env-table/read-table';
import { oneOfInAnyCase, wholeNumber } from '../platform/env-table/parsers';
import type { memstoreTable } from './memstore';
import { optional, setting } from './setting';
import type { storeTable } from './store';

const BACKENDS = {
  kvstore: 'kvstore',
  redis: 'kvstore',
  memstore: 'memstore',
  memcache: 'memstore',
  memory: 'memory',
} as const;

export type Backend = 'kvstore' | 'memstore' | 'memory';

export const backendTable = {
  type: optional(
    'BACKEND_TYPE',
    oneOfInAnyCase(BACKENDS),
    'the first that has an address, else memory',
    { doc: 'where counters live: kvstore (redis), memstore (memcache), or memory (this process)' },
  ),
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
      doc: 'memory: most bytes that these counters may take, 160 for each and 2 for a character of its key',
    },
  ),
};

export interface BackendReadings {
  readonly backend: TableReading<typeof backendTable>;
  readonly store: TableReading<ReturnType<typeof storeTable>>;
  readonly memstore: TableReading<typeof memstoreTable>;
}

function checkAddress(kind: Backend, { backend, store, memstore }: BackendReadings): void {
  if (kind === 'kvstore' && !store.isSet('url'))
    backend.refuse('type', `${store.describe('url')} to be set`);
  if (kind === 'memstore' && !memstore.isSet('nodes') && !memstore.isSet('srv'))
    backend.refuse(
      'type',
      `${memstore.describe('nodes')} or ${memstore.describe('srv')} to be set`,
    );
}

/** The kind of store in use: as configured, else the first with an address, else memory (behaviour.md §1.3). */
export function chooseBackend(readings: BackendReadings): Backend {
  const { backend, store, memstore } = readings;
  const { type } = backend.values;
  if (type !== undefined) {
    checkAddress(type, readings);
    return type;
  }
  if (store.isSet('url')) return 'kvstore';
  if (memstore.isSet('nodes') || memstore.isSet('srv')) return 'memstore';
  const names = [store.describe('url'), memstore.describe('nodes'), memstore.describe('srv')];
  backend.diagnostics.warnings.push(
    `neither ${names.join(' nor ')} is set: counters live in the ` +
      'memory of this process, other instances do not see them and a restart forgets them',
  );
  return 'memory';
}
