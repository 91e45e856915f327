import { wholeNumber } from '../platform/env-table/numbers';
import type { Findings, Reading } from '../platform/env-table/read-table';
import { setting } from '../platform/env-table/setting';
import { oneOfInAnyCase } from '../platform/env-table/texts';
import type { memstoreTable } from './memstore';
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
  type: setting('BACKEND_TYPE', oneOfInAnyCase(BACKENDS), {
    doc: 'where counters live: kvstore (redis), memstore (memcache), or memory (this process)',
    whenUnset: 'the first that has an address, else memory',
  }),
  memoryMaxKeys: setting('MEMORY_MAX_KEYS', wholeNumber(1), {
    default: '1000000',
    doc: 'memory: most counters that are kept at the same time',
  }),
  memoryMaxBytes: setting('MEMORY_MAX_BYTES', wholeNumber(1_048_576), {
    default: '536870912',
    doc: 'memory: most bytes that these counters may take, 160 for each and 2 for a character of its key',
  }),
};

export interface BackendReadings {
  readonly backend: Reading<typeof backendTable>;
  readonly store: Reading<ReturnType<typeof storeTable>>;
  readonly memstore: Reading<typeof memstoreTable>;
}

function checkAddress(backend: Backend, readings: BackendReadings, findings: Findings): void {
  const { store, memstore } = readings;
  const shown = readings.backend.shown('type');
  if (backend === 'kvstore' && !store.isSet('url')) {
    findings.problems.push(`${shown}: expected ${store.shown('url')} to be set`);
  }
  if (backend === 'memstore' && !memstore.isSet('nodes') && !memstore.isSet('srv')) {
    findings.problems.push(
      `${shown}: expected ${memstore.shown('nodes')} or ${memstore.shown('srv')} to be set`,
    );
  }
}

/** The kind of store in use: the one asked for, else the first with an address, else memory (behaviour.md §1.3). */
export function chooseBackend(readings: BackendReadings, findings: Findings): Backend {
  const { backend, store, memstore } = readings;
  const { type } = backend.values;
  if (type !== undefined) {
    checkAddress(type, readings, findings);
    return type;
  }
  if (store.isSet('url')) return 'kvstore';
  if (memstore.isSet('nodes') || memstore.isSet('srv')) return 'memstore';
  const names = [store.shown('url'), memstore.shown('nodes'), memstore.shown('srv')];
  findings.warnings.push(
    `neither ${names.join(' nor ')} is set: counters live in the ` +
      'memory of this process, other instances do not see them and a restart forgets them',
  );
  return 'memory';
}
