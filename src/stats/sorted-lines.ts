import type { NameOf } from './registry';
import type { Series } from './series';
import { sortInSteps } from './sort-in-steps';

const SERIES_OF_STEP = 128;

/** A statistic by its name, or a series: its name and its values are read when its lines are made. */
export type Source =
  | { readonly name: string; readonly value: string | number }
  | { readonly series: Series; readonly nameOf: NameOf };

type Print<T> = (name: string, value: string | number) => T;

/**
 * Every statistic as a line, in the order of `name: value`. Only references to lines are sorted, each a number, since there may be
 * a million: a line is made when it is read, and for a comparison that paths do not decide. Undefined: a step.
 */
export function* sortedLines(
  all: Iterable<Source>,
  print: Print<string>,
): Generator<string | undefined, void, void> {
  const sources: Source[] = [];
  const places: number[] = [];
  let width = 1;
  for (const source of all) {
    if ('series' in source) width = Math.max(width, source.series.stats.length);
    sources.push(source);
    if (sources.length % SERIES_OF_STEP === 0) yield;
  }
  for (const [at, source] of sources.entries()) {
    for (const index of statsOf(source)) places.push(at * width + index);
    if (at % SERIES_OF_STEP === 0) yield;
  }
  const lineOf = <T>(place: number, make: Print<T>): T | undefined => {
    const source = sources[Math.floor(place / width)];
    return source && lineOfSource(source, place % width, make);
  };
  const compare = (a: number, b: number): number => {
    const [one, other] = [sources[Math.floor(a / width)], sources[Math.floor(b / width)]];
    const order = one && other && compareSources(one, other, a % width, b % width);
    if (order !== undefined) return order;
    const [line = '', next = ''] = [lineOf(a, toText), lineOf(b, toText)];
    return orderOf(line, next);
  };
  for (const place of yield* sortInSteps(Float64Array.from(places), compare))
    yield lineOf(place, print);
}

export const toText: Print<string> = (name, value) => `${name}: ${String(value)}`;

/** The statistics of a source that have counted. */
function statsOf(source: Source): readonly number[] {
  if (!('series' in source)) return [0];
  const { series } = source;
  return series.stats.flatMap((_stat, index) => (series.at(index) === undefined ? [] : [index]));
}

function lineOfSource<T>(source: Source, index: number, make: Print<T>): T {
  if (!('series' in source)) return make(source.name, source.value);
  const { series, nameOf } = source;
  return make(nameOf(series.path, series.stats[index] ?? ''), series.at(index)?.value ?? 0);
}

/** Undefined where only the whole lines decide: one path may be a prefix of another. */
function compareSources(a: Source, b: Source, stat: number, otherStat: number): number | undefined {
  if (!('series' in a) || !('series' in b) || a.nameOf !== b.nameOf) return undefined;
  const [one, other] = [a.series, b.series];
  if (one === other) return orderOf(one.stats[stat] ?? '', one.stats[otherStat] ?? '');
  if (one.path < other.path) return other.path.startsWith(one.path) ? undefined : -1;
  return one.path.startsWith(other.path) ? undefined : 1;
}

function orderOf(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
