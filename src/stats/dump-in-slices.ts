import { setImmediate as turn } from 'node:timers/promises';
import { linesOf } from './dump';
import type { Registry } from './registry';

/** Lines that are looked at in one turn of the event loop: about a millisecond. */
const SLICE = 1_000;

/**
 * The text of `dumpText` in pieces, for a registry of any size: other work has its turn between two of
 * them. Made as fast as it is read.
 */
export async function* dumpTextInSlices(registry: Registry): AsyncGenerator<string, void> {
  let runs: string[][] = [[]];
  for (const line of linesOf(registry)) {
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
    yield `${lines.slice(at, at + SLICE).join('\n')}\n`;
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
