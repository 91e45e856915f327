import type { TableReading, Parser } from '../platform/env-table/table';
import { wholeNumber } from '../platform/env-table/parsers';
import type { Backend } from './backend';
import { setting } from './setting';

const MAX_WORKERS = 64;

const number = wholeNumber(1, MAX_WORKERS);

const workers: Parser<number | 'auto'> = {
  expected: `${number.expected}, or auto`,
  parse: (text) => (text === 'auto' ? 'auto' : number.parse(text)),
};

export const workersTable = {
  workers: setting('WORKERS', workers, '1', {
    doc: 'processes that decide, on the same ports; auto: as many as CPUs and memory allow',
  }),
};

/** The number of deciding processes; `auto` is resolved at the start, by what the machine allows. */
export type Workers = number | 'auto';

/** Counters in memory belong to one process: several would allow several times the limit. */
export function toWorkers(reading: TableReading<typeof workersTable>, backend: Backend): Workers {
  const { workers: asked } = reading.values;
  if (backend !== 'memory' || asked === 1) return asked;
  const why = `${reading.describe('workers')}: counters live in the memory of one process`;
  if (asked === 'auto') {
    reading.warn(`${why}, so there is one worker`);
    return 1;
  }
  reading.problem(
    `${why}, expected WORKERS=1, or counters in Redis (KVSTORE_URL; also on this machine, by Unix socket)`,
  );
  return 1;
}
