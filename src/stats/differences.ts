import { setImmediate as turn } from 'node:timers/promises';
import {
  BUDGET_FIGURES,
  FIGURES,
  NO_FIGURES,
  type BudgetFigure,
  type Figures,
} from '../core/decision/figures';
import type { Histogram, Recorded } from './histogram';
import type { Registry } from './registry';
import type { Counter, FigureSeries, RuleSeries } from './series';

/** The counts of one process since its last report; plain data, so that it can cross to another process. */
export interface Differences {
  readonly counters: readonly (readonly [name: string, by: number])[];
  readonly rules: readonly (readonly [path: string, hits: Figures])[];
  readonly unknownDomains: readonly (readonly [path: string, by: number])[];
  readonly unmatched: readonly (readonly [path: string, by: number])[];
  readonly budgets: readonly (readonly [figure: BudgetFigure, path: string, by: number])[];
  readonly timers: readonly TimerDifference[];
}

/** The recordings of a timer; its maximum is that since the start. */
export interface TimerDifference extends Recorded {
  readonly name: string;
}

/** Series read per turn of the event loop: about a millisecond. */
const STEP = 4_000;

/**
 * Reads the counts of a registry since the last call, in pieces with a turn of the event loop between them. The registry must have
 * no other output: its counters note what was read.
 */
export function createDifferences(registry: Registry): () => AsyncGenerator<Differences, void> {
  const countersBefore = new Set<string>();
  const timersBefore = new Map<string, Float64Array>();
  const sumsBefore = new Map<string, number>();
  registry.keepUntilFlushed();

  const timers = (): readonly TimerDifference[] =>
    [...registry.timers].flatMap(([name, timer]) => {
      const before = timersBefore.get(name);
      const difference = timerDifference(name, timer, before, sumsBefore.get(name) ?? 0);
      if (difference === undefined) return [];
      timersBefore.set(name, timer.counts.slice());
      sumsBefore.set(name, timer.sumMilliseconds);
      return [difference];
    });

  return async function* read() {
    const counters: [string, number][] = [];
    for (const [name, { counter }] of registry.counters) {
      const by = taken(counter);
      // It is shown from its start on, before it has counted anything.
      if (by !== 0 || !countersBefore.has(name)) counters.push([name, by]);
      countersBefore.add(name);
    }
    yield { ...NONE, counters, timers: timers() };
    for (const rules of slices(registry.rules, STEP)) {
      await turn();
      const grown = rules.flatMap((one) => {
        const hits = takenHits(one);
        return hits === undefined ? [] : [[one.path, hits] as const];
      });
      if (grown.length > 0) yield { ...NONE, rules: grown };
    }
    for (const kind of ['unknownDomains', 'unmatched'] as const)
      for await (const grown of takenOf(registry[kind])) yield { ...NONE, [kind]: grown };
    for (const [figure] of BUDGET_FIGURES)
      for await (const grown of takenOf(registry.budgets[figure]))
        yield { ...NONE, budgets: grown.map(([path, by]) => [figure, path, by] as const) };
  };
}

/** The growth of the series of one figure, in pieces. */
async function* takenOf(
  series: Iterable<FigureSeries>,
): AsyncGenerator<readonly (readonly [path: string, by: number])[], void> {
  for (const slice of slices(series, STEP)) {
    await turn();
    const grown = slice.flatMap((one) => {
      const by = taken(one.at(0));
      return by === 0 ? [] : [[one.path, by] as const];
    });
    if (grown.length > 0) yield grown;
  }
}

const NONE: Differences = {
  counters: [],
  rules: [],
  unknownDomains: [],
  unmatched: [],
  budgets: [],
  timers: [],
};

function taken(counter: Counter | undefined): number {
  if (counter === undefined) return 0;
  const by = counter.value - counter.flushedValue;
  counter.flushedValue = counter.value;
  return by;
}

function takenHits(one: RuleSeries): Figures | undefined {
  const grown = { ...NO_FIGURES };
  let isAny = false;
  for (const [figure] of FIGURES) {
    grown[figure] = taken(one[figure]);
    isAny ||= grown[figure] !== 0;
  }
  return isAny ? grown : undefined;
}

function timerDifference(
  name: string,
  { counts, sumMilliseconds, maxMilliseconds }: Histogram,
  before: Float64Array | undefined,
  sumBefore: number,
): TimerDifference | undefined {
  const buckets: number[] = [];
  const times: number[] = [];
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    const grown = (counts[bucket] as number) - (before?.[bucket] ?? 0);
    if (grown === 0) continue;
    buckets.push(bucket);
    times.push(grown);
  }
  if (buckets.length === 0) return undefined;
  return { name, buckets, times, sumMilliseconds: sumMilliseconds - sumBefore, maxMilliseconds };
}

/** Cuts while it reads: items added meanwhile are read, or come with the next report. */
function* slices<T>(all: Iterable<T>, size: number): Generator<T[], void> {
  let slice: T[] = [];
  for (const one of all) {
    if (slice.push(one) < size) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}
