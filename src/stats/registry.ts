import type { Statistics } from '../core/ports';
import { Counter } from './counter';
import { Histogram } from './histogram';

/** All statistics of the process: written through the port, read by the outputs. */
export interface Registry extends Statistics {
  /** The counter of that name, for who adds to it often. */
  counter(name: string): Counter;
  /** In the order in which they came to be; none is ever removed. */
  readonly counters: ReadonlyMap<string, Counter>;
  readonly timers: ReadonlyMap<string, Histogram>;
  /** Reads every gauge now. Gauges of one name are summed; one that fails or is no number is left out. */
  readGauges(): ReadonlyMap<string, number>;
}

export function createRegistry(): Registry {
  const counters = new Map<string, Counter>();
  const timers = new Map<string, Histogram>();
  const gauges = new Map<string, Set<() => number>>();
  const counter = (name: string) => series(counters, name, newCounter);

  return {
    counters,
    timers,
    counter,
    count(name, by) {
      counter(name).add(by);
    },
    time(name, milliseconds, times) {
      series(timers, name, newHistogram).record(milliseconds, times);
    },
    gauge(name, read) {
      // One function may be registered twice: each registration is its own entry.
      const entry = () => read();
      const reads = series(gauges, name, newReads).add(entry);
      return () => {
        if (reads.delete(entry) && reads.size === 0) gauges.delete(name);
      };
    },
    readGauges() {
      const values = new Map<string, number>();
      for (const [name, reads] of gauges) {
        const value = sumOf(reads);
        if (Number.isFinite(value)) values.set(name, value);
      }
      return values;
    },
  };
}

const newCounter = () => new Counter();
const newHistogram = () => new Histogram();
const newReads = () => new Set<() => number>();

/** The series of a name. The only place where one comes to be, and so the place to cap them. */
function series<S>(all: Map<string, S>, name: string, create: () => S): S {
  const known = all.get(name);
  if (known !== undefined) return known;
  const created = create();
  all.set(name, created);
  return created;
}

function sumOf(reads: ReadonlySet<() => number>): number {
  let sum = 0;
  for (const read of reads) {
    try {
      sum += read();
    } catch {
      return NaN;
    }
  }
  return sum;
}
