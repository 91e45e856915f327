import {
  type HotFigures,
  type HotKeyView,
  type LiveFigures,
  exceptionCounts,
  type LatencyQuantiles,
} from './live-figures';
import type { Hits } from './rule-rates';
import type { UnmatchedView } from './unmatched';

type Own = Pick<LiveFigures, 'response' | 'gauges'>;

const SHOWN_HOT_KEYS = 40;

/**
 * The figures of several processes as of one: rates add up, and so do the errors of hot keys. The times of the store are those of
 * the slowest process; response times and gauges are read from the merged statistics, which are exact.
 */
export function mergeFigures(all: readonly LiveFigures[], { response, gauges }: Own): LiveFigures {
  const sum = (of: (figures: LiveFigures) => number): number =>
    all.reduce((total, figures) => total + of(figures), 0);
  return {
    requests: sum((each) => each.requests),
    hits: all.reduce<Hits>((total, { hits }) => addHits(total, hits), NO_HITS),
    batch: mergeBatches(all),
    response,
    store: slowest(all.flatMap(({ store }) => store ?? [])),
    ...exceptionCounts((exception) => sum((each) => each[exception])),
    rules: mergeLines(all.map(({ rules }) => rules)),
    domains: mergeLines(all.map(({ domains }) => domains)),
    ...mergeHot(all, SHOWN_HOT_KEYS),
    unmatched: mergeUnmatched(all.flatMap(({ unmatched }) => unmatched)),
    gauges,
  };
}

const NO_HITS: Hits = [0, 0, 0, 0];

function addHits(a: Hits, b: Hits): Hits {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]];
}

type Line = readonly [place: number, ...Hits];

function mergeLines(all: readonly (readonly Line[])[]): readonly Line[] {
  const byPlace = new Map<number, Hits>();
  for (const [place, ...hits] of all.flat())
    byPlace.set(place, addHits(byPlace.get(place) ?? NO_HITS, hits));
  return [...byPlace].map(([place, hits]) => [place, ...hits] as const);
}

/** The mean over all batches: each process made as many as its requests fill. */
function mergeBatches(all: readonly LiveFigures[]): LiveFigures['batch'] {
  let requests = 0;
  let batches = 0;
  let largest = 0;
  for (const { requests: ofOne, batch } of all) {
    if (batch === undefined || batch.mean === 0) continue;
    requests += ofOne;
    batches += ofOne / batch.mean;
    largest = Math.max(largest, batch.largest);
  }
  return batches === 0 ? undefined : { mean: requests / batches, largest };
}

function slowest(all: readonly LatencyQuantiles[]): LatencyQuantiles | undefined {
  if (all.length === 0) return undefined;
  return {
    p50: Math.max(...all.map(({ p50 }) => p50)),
    p99: Math.max(...all.map(({ p99 }) => p99)),
  };
}

/** The hottest counters of several processes: each may be too low by the errors of all. */
export function mergeHot(all: readonly HotFigures[], most: number): HotFigures {
  return {
    hot: mergeHotKeys(all.flatMap(({ hot }) => hot)).slice(0, most),
    hotError: all.reduce((total, { hotError }) => total + hotError, 0),
  };
}

/** Several processes hit one counter: the store's highest value is its latest. */
function mergeHotKeys(all: readonly HotKeyView[]): readonly HotKeyView[] {
  const byId = new Map<string, HotKeyView>();
  for (const key of all) {
    const known = byId.get(key.id);
    byId.set(key.id, known === undefined ? key : mergeHotKey(known, key));
  }
  return [...byId.values()].sort((a, b) => b.perSecond - a.perSecond);
}

function mergeHotKey(a: HotKeyView, b: HotKeyView): HotKeyView {
  const values = [a.value, b.value].filter((value) => value !== undefined);
  return {
    ...(a.resetsIn >= b.resetsIn ? a : b),
    perSecond: a.perSecond + b.perSecond,
    value: values.length === 0 ? undefined : Math.max(...values),
    isOver: a.isOver || b.isOver,
    isLeased: a.isLeased === true || b.isLeased,
  };
}

function mergeUnmatched(all: readonly UnmatchedView[]): readonly UnmatchedView[] {
  const byShape = new Map<string, UnmatchedView>();
  for (const view of all) {
    const shape = JSON.stringify([view.domain, view.keys, view.further]);
    const known = byShape.get(shape);
    const { perSecond = 0, total = 0 } = known ?? {};
    byShape.set(shape, {
      ...view,
      perSecond: view.perSecond + perSecond,
      total: view.total + total,
    });
  }
  return [...byShape.values()].sort((a, b) => b.total - a.total);
}
