import { setImmediate as turn } from 'node:timers/promises';
import { quantile, samplesSince, type Histogram } from './histogram';
import type { Registry } from './registry';

/** Lines of one turn of the event loop: about a millisecond. */
const SLICE = 1_000;

/**
 * Every statistic as a line `name: value`, sorted, in pieces, for a registry of any size: other work runs between
 * two of them. Produced as fast as it is read.
 */
export async function* dumpTextInSlices(registry: Registry): AsyncGenerator<string, void> {
  await registry.refresh?.();
  for await (const lines of sortedInSlices(linesOf(registry))) yield `${lines.join('\n')}\n`;
}

/** The same as JSON: `{"counters": {…}, "gauges": {…}, "timers": {"name": {"count", "p50", …}}}`. */
export async function* dumpJsonInSlices(registry: Registry): AsyncGenerator<string, void> {
  await registry.refresh?.();
  let before = '{"counters":{';
  for await (const fields of sortedInSlices(counterFields(registry))) {
    yield before + fields.join(',');
    before = ',';
  }
  const timers = [...registry.timers].map(([name, timer]) => [name, dumpTimer(timer)] as const);
  const gauges = JSON.stringify(sortedRecord(registry.readGauges()));
  yield `},"gauges":${gauges},"timers":${JSON.stringify(sortedRecord(timers))}}\n`;
}

function* counterFields(registry: Registry): Generator<string, void> {
  for (const [name, { value }] of registry.readCounters())
    yield `${JSON.stringify(name)}:${value.toString()}`;
}

function sortedRecord<T>(fields: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.fromEntries([...fields].sort(([a], [b]) => (a < b ? -1 : 1)));
}

async function* sortedInSlices(all: Iterable<string>): AsyncGenerator<readonly string[], void> {
  let runs: string[][] = [[]];
  for (const line of all) {
    runs.at(-1)?.push(line);
    if (runs.at(-1)?.length !== SLICE) continue;
    runs.at(-1)?.sort();
    runs.push([]);
    await turn();
  }
  runs.at(-1)?.sort();
  while (runs.length > 1) runs = await mergePairs(runs);
  const [lines = []] = runs;
  for (let at = 0; at < lines.length; at += SLICE) {
    yield lines.slice(at, at + SLICE);
    await turn();
  }
}

async function mergePairs(runs: readonly string[][]): Promise<string[][]> {
  const merged: string[][] = [];
  for (let at = 0; at < runs.length; at += 2)
    merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? []));
  return merged;
}

async function merge(left: readonly string[], right: readonly string[]): Promise<string[]> {
  const merged: string[] = [];
  let l = 0;
  let r = 0;
  while (l < left.length || r < right.length) {
    const [a, b] = [left[l], right[r]];
    const isLeft = b === undefined || (a !== undefined && a <= b);
    merged.push((isLeft ? a : b) as string);
    if (isLeft) l += 1;
    else r += 1;
    if (merged.length % (SLICE * 8) === 0) await turn();
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
