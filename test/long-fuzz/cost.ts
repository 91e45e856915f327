import { readCoreMs } from '../support/edge/core-time';
import type { JudgeCost } from '../fuzz/fuzz';

/** Costs of executions, each divided by the bytes of its input. */
export interface Costs {
  /** Milliseconds for each byte: the last ones. */
  readonly perByte: number[];
  seen: number;
}

export const createCosts = (): Costs => ({ perByte: [], seen: 0 });

const KEPT = 1_001;
/** Fewer say nothing of the median. */
const MIN_SEEN = 100;
/** Below it an input may cost what it likes: the garbage collector alone takes as much. */
const MIN_MS = 100;
/** Times the median per byte: sessions of different kinds differ by 10, quadratic work in 64 KiB by thousands. */
const MAX_TIMES_MEDIAN = 100;
const REPEATS = 3;

/** Judges executions by those before them. */
export function createJudgeCost(): JudgeCost {
  const costs = createCosts();
  return (bytes, run) => {
    judgeCost(costs, bytes, run);
  };
}

/** Runs an execution; throws when it costs far more for each byte than others do, and does so again each time. */
export function judgeCost(costs: Costs, bytes: number, run: () => void): void {
  const startedAt = performance.now();
  run();
  const ms = performance.now() - startedAt;
  const size = Math.max(1, bytes);
  if (ms > MIN_MS && costs.seen >= MIN_SEEN) confirm(costs, ms, size, run);
  costs.perByte[costs.seen++ % KEPT] = ms / size;
}

function confirm(costs: Costs, firstMs: number, size: number, run: () => void): void {
  const sorted = [...costs.perByte].sort((one, other) => one - other);
  const most = Math.max(MIN_MS, MAX_TIMES_MEDIAN * size * (sorted[sorted.length >> 1] ?? 0));
  let leastMs = firstMs;
  for (let i = 0; i < REPEATS && leastMs > most; i++) {
    const before = readCoreMs();
    run();
    leastMs = Math.min(leastMs, readCoreMs() - before);
  }
  if (leastMs > most)
    throw new Error(
      `${String(size)} bytes take ${leastMs.toFixed(0)} ms each time, at most ${most.toFixed(0)} ms are usual`,
    );
}
