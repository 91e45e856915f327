import { createRandom, seedOf } from './random';
import type { Target } from './target';

export interface BatchStats {
  executions: number;
  /** Octets of inputs, each counted once, however often it was played. */
  bytes: number;
  /** Runs an execution, and may run it again: throws when it costs too much. */
  readonly judge: JudgeCost;
}

export type JudgeCost = (bytes: number, run: () => void) => void;

/** To judge a cost takes a clock: `npm run fuzz` and the siege have one. */
const judgeNothing: JudgeCost = (_bytes, run) => {
  run();
};

export const createBatchStats = (judge: JudgeCost = judgeNothing): BatchStats => ({
  executions: 0,
  bytes: 0,
  judge,
});

/** Something that must not be: the error, and all that is needed to see it again. */
export class Finding extends Error {
  override readonly name = 'Finding';

  constructor(target: Target, seed: number, input: Buffer, cause: unknown) {
    const reason = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
    const again = `npm run fuzz -- --target ${target.name} --seed ${String(seed)}`;
    super(`${reason}\n${again}\nsmallest input: ${input.toString('hex')}`, { cause });
  }
}

/** One execution; the seed makes the input and all choices of the check. */
export function execute(
  target: Target,
  seed: number,
  batchStats: BatchStats,
  given?: Buffer,
): void {
  const random = createRandom(seed);
  const made = target.make(random);
  const input = given ?? made;
  let isFirst = true;
  batchStats.executions++;
  batchStats.bytes += input.length;
  try {
    batchStats.judge(input.length, () => {
      if (isFirst) target.check(input, random);
      else checkAgain(target, seed, input);
      isFirst = false;
    });
  } catch (error) {
    // A fault of cost alone: a smaller input would cost less.
    if (fault(target, seed, input) === undefined) throw new Finding(target, seed, input, error);
    const small = shrink(input, (candidate) => fault(target, seed, candidate) !== undefined);
    throw new Finding(target, seed, small, fault(target, seed, small));
  }
}

/** The check of an input with the choices that its seed makes. */
function checkAgain(target: Target, seed: number, input: Buffer): void {
  const random = createRandom(seed);
  target.make(random);
  target.check(input, random);
}

function fault(target: Target, seed: number, input: Buffer): unknown {
  try {
    checkAgain(target, seed, input);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Attempts to make the input of a finding smaller; each one is an execution. */
const SHRINK_ATTEMPTS = 500;

/** Takes out ever smaller parts as long as the fault stays. */
function shrink(input: Buffer, fails: (candidate: Buffer) => boolean): Buffer {
  let best = input;
  let attempts = 0;
  for (let size = Math.ceil(input.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < best.length && attempts < SHRINK_ATTEMPTS;) {
      const candidate = Buffer.concat([best.subarray(0, at), best.subarray(at + size)]);
      attempts++;
      if (fails(candidate)) best = candidate;
      else at += size;
    }
  }
  return best;
}

/** Octets of input in an ordinary run; `npm run fuzz` is for more (docs/internals/fuzzing.md). */
export const FUZZ_OCTETS = 10_000_000;
/** A fixed run, so that a red test is red again. */
export const FUZZ_RUN = 5;

/** Runs a target until it has eaten so many octets. */
export function fuzzBytes(
  target: Target,
  run: number,
  bytes: number,
  judge?: JudgeCost,
): BatchStats {
  const batchStats = createBatchStats(judge);
  while (batchStats.bytes < bytes) execute(target, seedOf(run, batchStats.executions), batchStats);
  return batchStats;
}
