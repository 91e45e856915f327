import { until, type Steps } from '../core/steps';
import { quantile, samplesSince, type Histogram } from './histogram';
import type { Registry } from './registry';
import { type Series, GROUPS } from './series';

/** Lines per piece: a fraction of a millisecond. */
const LINES_OF_PIECE = 128;

/** Every statistic as a line `name: value`, sorted, in pieces, for a registry of any size. */
export function* dumpText(registry: Registry): Steps<void, string> {
  yield* refresh(registry);
  for (const piece of piecesOf(sortedLines(sourcesOf(registry), toText)))
    yield piece && `${piece.join('\n')}\n`;
}

/** All statistics as JSON: `{"counters": {…}, "gauges": {…}, "timers": {"name": {"count", "p50", …}}}`. */
export function* dumpJson(registry: Registry): Steps<void, string> {
  yield* refresh(registry);
  yield* printed('{"counters":{', registry.readSeries());
  yield* printed('},"gauges":{', gauges(registry));
  yield* printed('},"timers":{', timers(registry));
  yield '}}\n';
}

function* refresh(registry: Registry): Steps<void> {
  const refreshed = registry.refresh?.();
  if (refreshed !== undefined) yield* until(refreshed);
}

function* sourcesOf(registry: Registry): Generator<Source | undefined, void> {
  yield* registry.readSeries();
  yield* gauges(registry);
  for (const [timer, histogram] of registry.timers) {
    for (const [figure, value] of Object.entries(dumpTimer(histogram)))
      yield shown(`${timer}.${figure}`, String(value));
  }
}

function* gauges(registry: Registry): Generator<Source, void> {
  for (const [name, value] of registry.readGauges()) yield shown(name, value);
}

function* timers(registry: Registry): Generator<Source, void> {
  for (const [name, timer] of registry.timers) yield shown(name, JSON.stringify(dumpTimer(timer)));
}

const toField = (name: string, value: string | number) =>
  `${JSON.stringify(name)}:${String(value)}`;

function* printed(
  before: string,
  sources: Iterable<Source | undefined>,
): Generator<string | undefined, void> {
  yield before;
  let comma = '';
  for (const piece of piecesOf(sortedLines(sources, toField))) {
    yield piece && comma + piece.join(',');
    if (piece !== undefined) comma = ',';
  }
}

/** Undefined: a step, without a line. */
function* piecesOf(
  lines: Iterable<string | undefined>,
): Generator<readonly string[] | undefined, void> {
  let piece: string[] = [];
  for (const line of lines) {
    if (line === undefined) yield undefined;
    else if (piece.push(line) === LINES_OF_PIECE) {
      yield piece;
      piece = [];
    }
  }
  if (piece.length > 0) yield piece;
}

/** The figures of a timer since the start, in milliseconds; the quantiles are at most 0.5 % off. */
function dumpTimer({ counts, count, maxMilliseconds }: Histogram) {
  const samples = samplesSince(counts, undefined);
  const at = (share: number) => rounded(Math.min(quantile(samples, share), maxMilliseconds));
  return { count, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: rounded(maxMilliseconds) };
}

function rounded(milliseconds: number): number {
  return Number(milliseconds.toPrecision(4));
}

/** A series, or what is shown as one: its names and its values are read when its lines are made. */
interface Source extends Pick<Series, 'group' | 'path'> {
  at(index: number): { readonly value: string | number } | undefined;
}

const shown = (path: string, value: string | number): Source => ({
  group: GROUPS.counters,
  path,
  at: () => ({ value }),
});

type Print = (name: string, value: string | number) => string;

/** More than a series has figures. */
const PLACES = 8;

/**
 * Every statistic as a line, in the order of `name: value`. Only references to lines are sorted, each a number, since there may be
 * a million: a line is made when it is read, and for a comparison that paths do not decide. Undefined: a step.
 */
function* sortedLines(
  all: Iterable<Source | undefined>,
  print: Print,
): Generator<string | undefined, void, void> {
  const sources: Source[] = [];
  const places: number[] = [];
  for (const source of all) {
    if (source === undefined) {
      yield;
      continue;
    }
    for (let index = 0; index < source.group.figures.length; index += 1)
      if (source.at(index) !== undefined) places.push(sources.length * PLACES + index);
    sources.push(source);
  }
  const lineOf = (place: number, make: Print): string => {
    const source = sources[Math.floor(place / PLACES)];
    const figure = source?.group.figures[place % PLACES];
    if (source === undefined || figure === undefined) return '';
    return make(source.group.nameOf(source.path, figure), source.at(place % PLACES)?.value ?? 0);
  };
  const compare = (a: number, b: number): number => {
    const [one, other] = [sources[Math.floor(a / PLACES)], sources[Math.floor(b / PLACES)]];
    return (
      (one && other && comparePaths(one, other)) ?? orderOf(lineOf(a, toText), lineOf(b, toText))
    );
  };
  for (const place of yield* sortInSteps(Float64Array.from(places), compare))
    yield lineOf(place, print);
}

const toText: Print = (name, value) => `${name}: ${String(value)}`;

/** Undefined where only the whole lines decide: one path may be a prefix of another. */
function comparePaths(one: Source, other: Source): number | undefined {
  if (one === other || one.group.nameOf !== other.group.nameOf) return undefined;
  if (one.path < other.path) return other.path.startsWith(one.path) ? undefined : -1;
  return one.path.startsWith(other.path) ? undefined : 1;
}

function orderOf(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Items sorted, or merged, per step: a fraction of a millisecond. */
const ITEMS_OF_RUN = 128;
const ITEMS_OF_STEP = 512;

type Compare = (a: number, b: number) => number;

/** Sorts numbers in runs, then merges pairs of them. The given list is consumed. */
function* sortInSteps(
  numbers: Float64Array,
  compare: Compare,
): Generator<undefined, Float64Array, void> {
  for (let at = 0; at < numbers.length; at += ITEMS_OF_RUN) {
    numbers.subarray(at, at + ITEMS_OF_RUN).sort(compare);
    yield;
  }
  let from: Float64Array = numbers;
  let to: Float64Array = new Float64Array(numbers.length);
  for (let length = ITEMS_OF_RUN; length < numbers.length; length *= 2) {
    yield* mergePairs(from, to, length, compare);
    [from, to] = [to, from];
  }
  return from;
}

/** Merges neighbouring pairs of sorted runs of this length. */
function* mergePairs(
  from: Float64Array,
  to: Float64Array,
  length: number,
  compare: Compare,
): Generator<undefined, void, void> {
  for (let start = 0; start < from.length; start += 2 * length) {
    const middle = Math.min(start + length, from.length);
    const end = Math.min(middle + length, from.length);
    let left = start;
    let right = middle;
    for (let at = start; at < end; at += 1) {
      const [a = 0, b = 0] = [from[left], from[right]];
      const isLeft = right === end || (left < middle && compare(a, b) <= 0);
      to[at] = isLeft ? a : b;
      if (isLeft) left += 1;
      else right += 1;
      if (at % ITEMS_OF_STEP === 0) yield;
    }
  }
}
