import { readCoreMs } from './core-time';

/** Linear work doubles with its input; the rest is for memory that is further away when there is more of it. */
export const MAX_PER_DOUBLING = 2.5;

const MIN_ROUNDS = 3;
const MAX_ROUNDS = 10;
/** Shorter work is repeated within a measurement, as often for each size. */
const LEAST_MS = 8;
const MAX_REPEATS = 64;
/** Beyond it nobody needs another round to see that the growth is too steep. */
const HOPELESS = 6;

export interface Growth {
  /** How often the cost multiplies when the input doubles, over two doublings. */
  readonly perDoubling: number;
  /** The least times of the three sizes, in milliseconds. */
  readonly ms: readonly number[];
}

/**
 * Measures work on inputs of size n, 2n and 4n by the time that this thread has a core, the least of several rounds: rounds
 * are added while the growth looks too steep, because others disturb a measurement and never help it. Work may wait for
 * promises that settle at once.
 */
export async function measureGrowth<T>(
  make: (size: number) => T,
  run: (input: T) => unknown,
  size: number,
): Promise<Growth> {
  const inputs = [size, 2 * size, 4 * size].map(make);
  const ms = inputs.map(() => Infinity);
  const growth = () => Math.sqrt((ms[2] ?? NaN) / (ms[0] ?? NaN));
  // The first time compiles.
  await measure(run, inputs[0] as T, 1);
  const once = await measure(run, inputs[0] as T, 1);
  const repeats = Math.min(MAX_REPEATS, Math.max(1, Math.ceil(LEAST_MS / once)));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (round >= MIN_ROUNDS && growth() <= MAX_PER_DOUBLING) break;
    if (round > 0 && growth() > HOPELESS) break;
    for (const [at, input] of inputs.entries())
      ms[at] = Math.min(ms[at] ?? Infinity, await measure(run, input, repeats));
  }
  return { perDoubling: growth(), ms };
}

async function measure<T>(run: (input: T) => unknown, input: T, repeats: number): Promise<number> {
  const before = readCoreMs();
  for (let i = 0; i < repeats; i++) await run(input);
  return Math.max(0.01, readCoreMs() - before);
}
