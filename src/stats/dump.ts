import { until, type Steps } from '../core/steps';
import { quantile, samplesSince, type Histogram } from './histogram';
import type { Registry } from './registry';

/** Lines that one step gathers, sorts or writes: a fraction of a millisecond. */
const LINES_OF_STEP = 128;

/** Every statistic as a line `name: value`, sorted, in pieces, for a registry of any size. */
export function* dumpText(registry: Registry): Steps<void, string> {
  yield* refresh(registry);
  const lines = yield* sorted(linesOf(registry));
  for (const piece of piecesOf(lines)) yield `${piece.join('\n')}\n`;
}

/** The same as JSON: `{"counters": {…}, "gauges": {…}, "timers": {"name": {"count", "p50", …}}}`. */
export function* dumpJson(registry: Registry): Steps<void, string> {
  yield* refresh(registry);
  const counters = yield* sorted(counterFields(registry));
  yield* printed('{"counters":{', counters);
  const gauges = yield* sorted(gaugeFields(registry));
  yield* printed('},"gauges":{', gauges);
  const timers = yield* sorted(timerFields(registry));
  yield* printed('},"timers":{', timers);
  yield '}}\n';
}

function* refresh(registry: Registry): Steps<void> {
  const refreshed = registry.refresh?.();
  if (refreshed !== undefined) yield* until(refreshed);
}

function* counterFields(registry: Registry): Generator<string, void> {
  for (const [name, { value }] of registry.readCounters())
    yield `${JSON.stringify(name)}:${value.toString()}`;
}

function* gaugeFields(registry: Registry): Generator<string, void> {
  for (const [name, value] of registry.readGauges())
    yield `${JSON.stringify(name)}:${String(value)}`;
}

function* timerFields(registry: Registry): Generator<string, void> {
  for (const [name, timer] of registry.timers)
    yield `${JSON.stringify(name)}:${JSON.stringify(dumpTimer(timer))}`;
}

function* printed(before: string, fields: readonly string[]): Generator<string, void> {
  yield before;
  let comma = '';
  for (const piece of piecesOf(fields)) {
    yield comma + piece.join(',');
    comma = ',';
  }
}

function* piecesOf(lines: readonly string[]): Generator<readonly string[], void> {
  for (let at = 0; at < lines.length; at += LINES_OF_STEP)
    yield lines.slice(at, at + LINES_OF_STEP);
}

/** Sorts in runs of some lines each, then merges pairs of them. */
function* sorted(all: Iterable<string>): Generator<undefined, readonly string[], void> {
  let runs: string[][] = [];
  let run: string[] = [];
  for (const line of all) {
    run.push(line);
    if (run.length < LINES_OF_STEP) continue;
    runs.push(run.sort());
    run = [];
    yield;
  }
  runs.push(run.sort());
  while (runs.length > 1) {
    const merged: string[][] = [];
    for (let at = 0; at < runs.length; at += 2)
      merged.push(yield* merge(runs[at] ?? [], runs[at + 1] ?? []));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* merge(
  left: readonly string[],
  right: readonly string[],
): Generator<undefined, string[], void> {
  const merged: string[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const [a, b] = [left[l], right[r]];
    const isLeft = b === undefined || (a !== undefined && a <= b);
    merged.push((isLeft ? a : b) as string);
    if (isLeft) l += 1;
    else r += 1;
    if (merged.length % (LINES_OF_STEP * 8) === 0) yield;
  }
  return merged;
}

/** The figures of a timer since the start, in milliseconds; the quantiles are at most 0.5 % off. */
interface TimerDump {
  readonly count: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** Every statistic as a line `name: value`, in order of creation; a timer has one for each figure. */
export function* linesOf(registry: Registry): Generator<string, void> {
  for (const [name, { value }] of registry.readCounters()) yield `${name}: ${value.toString()}`;
  for (const [name, value] of registry.readGauges()) yield `${name}: ${value.toString()}`;
  for (const [name, histogram] of registry.timers) {
    for (const [figure, value] of Object.entries(dumpTimer(histogram))) {
      yield `${name}.${figure}: ${String(value)}`;
    }
  }
}

/** A timer since the start. */
function dumpTimer({ counts, count, maxMilliseconds }: Histogram): TimerDump {
  const samples = samplesSince(counts, undefined);
  const at = (share: number) => rounded(Math.min(quantile(samples, share), maxMilliseconds));
  return { count, p50: at(0.5), p90: at(0.9), p99: at(0.99), max: rounded(maxMilliseconds) };
}

function rounded(milliseconds: number): number {
  return Number(milliseconds.toPrecision(4));
}
