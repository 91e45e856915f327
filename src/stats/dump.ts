import { until, type Steps } from '../core/steps';
import { quantile, samplesSince, type Histogram } from './histogram';
import type { Registry } from './registry';
import { sortedLines, toText, type Source } from './sorted-lines';

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
  yield* printed('{"counters":{', counters(registry));
  yield* printed('},"gauges":{', gauges(registry));
  yield* printed('},"timers":{', timers(registry));
  yield '}}\n';
}

function* refresh(registry: Registry): Steps<void> {
  const refreshed = registry.refresh?.();
  if (refreshed !== undefined) yield* until(refreshed);
}

function* sourcesOf(registry: Registry): Generator<Source, void> {
  yield* counters(registry);
  yield* gauges(registry);
  for (const [timer, histogram] of registry.timers) {
    for (const [figure, value] of Object.entries(dumpTimer(histogram)))
      yield { name: `${timer}.${figure}`, value: String(value) };
  }
}

function* counters(registry: Registry): Generator<Source, void> {
  for (const [name, { value }] of registry.counters) yield { name, value };
  for (const [series, nameOf] of registry.readSeries()) yield { series, nameOf };
}

function* gauges(registry: Registry): Generator<Source, void> {
  for (const [name, value] of registry.readGauges()) yield { name, value };
}

function* timers(registry: Registry): Generator<Source, void> {
  for (const [name, timer] of registry.timers)
    yield { name, value: JSON.stringify(dumpTimer(timer)) };
}

const toField = (name: string, value: string | number) =>
  `${JSON.stringify(name)}:${String(value)}`;

function* printed(before: string, sources: Iterable<Source>): Generator<string | undefined, void> {
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
