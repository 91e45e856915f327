import { setImmediate as turn } from 'node:timers/promises';
import { dumpTimer, linesOf } from './dump';
import type { Registry } from './registry';

/** Lines that are looked at in one turn of the event loop: about a millisecond. */
const SLICE = 1_000;

/**
 * Every statistic as a line `name: value`, sorted, in pieces, for a registry of any size: other work has its turn
 * between two of them. Made as fast as it is read.
 */
export async function* dumpTextInSlices(registry: Registry): AsyncGenerator<string, void> {
  for await (const lines of sortedInSlices(linesOf(registry))) yield `${lines.join('\n')}\n`;
}

/** The same as JSON: `{"counters": {…}, "gauges": {…}, "timers": {"name": {"count", "p50", …}}}`. */
export async function* dumpJsonInSlices(registry: Registry): AsyncGenerator<string, void> {
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
