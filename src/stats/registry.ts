import { BUDGET_FIGURES, type BudgetFigure } from '../core/decision/figures';
import { monotonicMs as systemMonotonicMs } from '../platform/clock';
import { CappedSeries, type SeriesLimits } from './capped-series';
import { Histogram } from './histogram';
import { NAMES } from './names';
import {
  FigureSeries,
  RuleSeries,
  type Series,
  GROUPS,
  type GroupId,
  type SeriesGroup,
} from './series';

const DEFAULT_MAX_SERIES = 100_000;

/** Series that a reader visits at once; it needs at most a fraction of a millisecond. */
const SERIES_OF_STEP = 128;

export interface RegistryOptions {
  /** Measures for how long a series was idle. */
  readonly monotonicMs?: () => number;
  readonly refresh?: () => Promise<void>;
}

/** All statistics of the process: written through the port, read by the outputs. */
export function createRegistry({ monotonicMs = systemMonotonicMs, refresh }: RegistryOptions = {}) {
  const counters = new Map<string, FigureSeries>();
  const timers = new Map<string, Histogram>();
  const gauges = new Map<string, Set<() => number>>();
  let limits: SeriesLimits = { maxSeries: DEFAULT_MAX_SERIES, onFull: () => undefined };
  let mustFlush = false;
  const counter = (name: string) => entryOf(counters, name, newCounter).counter;

  const capped = <S extends Series>(group: SeriesGroup, create: (path: string) => S) =>
    new CappedSeries<S>({
      create,
      overflowPath: group.overflowOf,
      limits: () => limits,
      mustFlush: () => mustFlush,
      overflowed: counter(NAMES.overflow),
      monotonicMs,
    });
  const ofFigure = (id: GroupId) =>
    capped(GROUPS[id], (path) => new FigureSeries(GROUPS[id], path));
  const rules = capped(GROUPS.rules, (path) => new RuleSeries(path));
  const unknownDomains = ofFigure('unknownDomains');
  const unmatched = ofFigure('unmatched');
  const budgets = Object.fromEntries(
    BUDGET_FIGURES.map(([figure]) => [figure, ofFigure(figure)]),
  ) as Record<BudgetFigure, CappedSeries<FigureSeries>>;

  const byGroup = { rules, unknownDomains, unmatched, ...budgets };

  function* all(): Generator<Series, void> {
    yield* counters.values();
    for (const group of Object.values(byGroup)) yield* group;
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
    /** Fetches the counts of other processes; undefined where there are none. Outputs call it before they read. */
    refresh,
    /** The counter of this name, for code that adds to it often. Names are few: none is ever removed. */
    counter,
    /** The series of a group to add `hits` to. */
    seriesOf: (group: GroupId, path: string, hits: number): Series =>
      group === 'counters' ? entryOf(counters, path, newCounter) : byGroup[group].of(path, hits),
    timer: (name: string) => entryOf(timers, name, newHistogram),
    count(name: string, by: number) {
      counter(name).add(by);
    },
    time(name: string, milliseconds: number, times: number) {
      entryOf(timers, name, newHistogram).record(milliseconds, times);
    },
    gauge(name: string, read: () => number) {
      // One function may be registered twice: each registration is its own entry.
      const entry = () => read();
      const reads = entryOf(gauges, name, newReads).add(entry);
      return () => {
        if (reads.delete(entry) && reads.size === 0) gauges.delete(name);
      };
    },
    /**
     * All that counts, for every reader: those that code names, then the groups of others, each in the order of creation. Undefined:
     * a step, after which other work may run. Series that requests create meanwhile may be among them.
     */
    *readSeries(): Generator<Series | undefined, void> {
      let left = SERIES_OF_STEP;
      for (const series of all()) {
        yield series;
        left -= 1;
        if (left > 0) continue;
        left = SERIES_OF_STEP;
        yield undefined;
      }
    },
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

const newCounter = (name: string) => new FigureSeries(GROUPS.counters, name);
const newHistogram = () => new Histogram();
const newReads = () => new Set<() => number>();

function entryOf<S>(all: Map<string, S>, name: string, create: (name: string) => S): S {
  const known = all.get(name);
  if (known !== undefined) return known;
  const created = create(name);
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
