import { BUDGET_FIGURES, type BudgetFigure } from '../core/decision/figures';
import { monotonicMs as systemMonotonicMs } from '../platform/clock';
import { CappedSeries, type SeriesLimits } from './capped-series';
import { Histogram } from './histogram';
import { NAMES } from './names';
import { Counter, DomainSeries, RuleSeries, type Series } from './series';

export type NameOf = (path: string, stat: string) => string;

const DEFAULT_MAX_SERIES = 100_000;

export interface RegistryOptions {
  /** Measures for how long a series was idle. */
  readonly monotonicMs?: () => number;
  readonly refresh?: () => Promise<void>;
}

/** All statistics of the process: written through the port, read by the outputs. */
export function createRegistry({ monotonicMs = systemMonotonicMs, refresh }: RegistryOptions = {}) {
  const counters = new Map<string, Counter>();
  const timers = new Map<string, Histogram>();
  const gauges = new Map<string, Set<() => number>>();
  let limits: SeriesLimits = { maxSeries: DEFAULT_MAX_SERIES, onFull: () => undefined };
  let mustFlush = false;
  const counter = (name: string) => series(counters, name, newCounter);

  const capped = <S extends Series>(
    create: (path: string) => S,
    overflowPath: (path: string) => string,
  ) =>
    new CappedSeries<S>({
      create,
      overflowPath,
      limits: () => limits,
      mustFlush: () => mustFlush,
      overflowed: counter(NAMES.overflow),
      monotonicMs,
    });
  const rules = capped((path) => new RuleSeries(path), overflowOfDomain);
  const byDomain = (stats: readonly [stat: string]) =>
    capped(
      (path) => new DomainSeries(path, stats),
      () => OVERFLOW,
    );
  const unknownDomains = byDomain(['domain_not_found']);
  const unmatched = byDomain(['unmatched']);

  const budgets = Object.fromEntries(
    BUDGET_FIGURES.map(([figure, stat]) => [
      figure,
      capped(
        (path) => new DomainSeries(path, [stat]),
        figure === 'overOneLimit' ? overflowOfLimits : overflowOfDomain,
      ),
    ]),
  ) as Record<BudgetFigure, CappedSeries<DomainSeries>>;

  function* readSeries(
    nameOfLimit: NameOf = nameOfRule,
  ): Generator<readonly [Series, NameOf], void> {
    for (const one of rules) yield [one, nameOfRule];
    for (const one of unknownDomains) yield [one, nameOfRule];
    for (const one of unmatched) yield [one, nameOfUnmatched];
    for (const [figure, ofFigure] of Object.entries(budgets))
      for (const one of ofFigure) yield [one, figure === 'overOneLimit' ? nameOfLimit : nameOfRule];
  }

  return {
    /** Counters by metric key of a rule; bounded, since requests create them. */
    rules,
    /** Counters by domain without rules; bounded for the same reason. */
    unknownDomains,
    /** Counters by domain, of descriptors that none of its rules matched; bounded like the others, though domains come from rules. */
    unmatched,
    /** Counters by metric key of a rule with a budget, for each figure; bounded like those of rules. */
    budgets,
    /** In the order of their creation; none is ever removed. */
    timers: timers as ReadonlyMap<string, Histogram>,
    /** The counters that code names, without those that requests create. */
    counters: counters as ReadonlyMap<string, Counter>,
    /** Fetches the counts of other processes; undefined where there are none. Outputs call it before they read. */
    refresh,
    /** The counter of this name, for code that adds to it often. Names are few: none is ever removed. */
    counter,
    timer: (name: string) => series(timers, name, newHistogram),
    count(name: string, by: number) {
      counter(name).add(by);
    },
    time(name: string, milliseconds: number, times: number) {
      series(timers, name, newHistogram).record(milliseconds, times);
    },
    gauge(name: string, read: () => number) {
      // One function may be registered twice: each registration is its own entry.
      const entry = () => read();
      const reads = series(gauges, name, newReads).add(entry);
      return () => {
        if (reads.delete(entry) && reads.size === 0) gauges.delete(name);
      };
    },
    /**
     * Every wanted counter by its complete name; names are built only for these. `nameOfLimit` replaces the names of refusals by
     * one of several limits.
     */
    *readCounters(
      isWanted: (counter: Counter) => boolean = () => true,
      nameOfLimit?: NameOf,
    ): Generator<readonly [name: string, counter: Counter], void> {
      for (const entry of counters) if (isWanted(entry[1])) yield entry;
      for (const [one, nameOf] of readSeries(nameOfLimit)) yield* countersOf(one, nameOf, isWanted);
    },
    /** Every series with the function for the complete names of its counters: one function for all with a common prefix. */
    readSeries,
    /** Reads every gauge now. Gauges of one name are joined; one that fails or is not a finite number is omitted. */
    readGauges() {
      const values = new Map<string, number>();
      for (const [name, reads] of gauges) {
        const value = readTogether(name, reads);
        if (Number.isFinite(value)) values.set(name, value);
      }
      return values;
    },
    /** Sets the number of series per kind; `DEFAULT_MAX_SERIES` before. */
    limitSeries(given: SeriesLimits) {
      limits = given;
    },
    /** For an output that notes in `flushedValue` what it has written: no series is dropped before that. */
    keepUntilFlushed() {
      mustFlush = true;
    },
  };
}

export type Registry = ReturnType<typeof createRegistry>;

/** The last segment of the path of a series that sums those without room. */
export const OVERFLOW = 'overflow';

/** The surplus of each domain of the rules stays with it, so that sums over a domain stay right. */
function overflowOfDomain(path: string): string {
  const end = path.indexOf('.');
  return end < 0 ? OVERFLOW : `${path.slice(0, end)}.${OVERFLOW}`;
}

/** Different from that of rules, whose statistic has the same word. */
function overflowOfLimits(path: string): string {
  return `${overflowOfDomain(path)}.limit_${OVERFLOW}`;
}

const nameOfRule: NameOf = (path, stat) => `${NAMES.rules}.${path}.${stat}`;
const nameOfUnmatched: NameOf = (path) => `${NAMES.unmatched}.${path}`;

function* countersOf(
  one: Series,
  nameOf: NameOf,
  isWanted: (counter: Counter) => boolean,
): Generator<readonly [string, Counter], void> {
  for (const [index, stat] of one.stats.entries()) {
    const counter = one.at(index);
    if (counter === undefined || !isWanted(counter)) continue;
    yield [nameOf(one.path, stat), counter];
  }
}

const newCounter = () => new Counter();
const newHistogram = () => new Histogram();
const newReads = () => new Set<() => number>();

function series<S>(all: Map<string, S>, name: string, create: () => S): S {
  const known = all.get(name);
  if (known !== undefined) return known;
  const created = create();
  all.set(name, created);
  return created;
}

function readTogether(name: string, reads: ReadonlySet<() => number>): number {
  try {
    return joinGauges(
      name,
      [...reads].map((read) => read()),
    );
  } catch {
    return NaN;
  }
}

/** Gauges that several connections or processes report: these show the worst value, all others the sum. */
const SHOWS_MAXIMUM =
  /\.(?:breaker_state|clock_difference_seconds|rules_without_scripts|averageAccessTime|busy)$/;

/** The joint value of several gauges with one name. */
export function joinGauges(name: string, values: readonly number[]): number {
  if (SHOWS_MAXIMUM.test(name)) return Math.max(0, ...values);
  return values.reduce((sum, value) => sum + value, 0);
}
