import { countAdmitted } from '../core/algorithms/apply-asks';
import { outcomeOf } from '../core/algorithms/outcome';
import { standingAfter, type Standing } from '../core/algorithms/standing';
import { tickAt } from '../core/algorithms/ticks';
import { type Increment } from '../core/ports';

/** Where a counter stood, and when that was by the clock of this process. */
export interface Stood {
  readonly standing: Standing;
  readonly atSeconds: number;
  /** Unix second from which the ask that it refused would fit. */
  readonly endSeconds: number;
}

/** The standing now, if no ask fits; undefined also when the clock went back, after which it cannot be known. */
export function standingRefusing(
  stood: Stood,
  { algorithm, hits, times = 1 }: Increment,
  nowSeconds: number,
): Standing | undefined {
  if (algorithm === undefined || nowSeconds < stood.atSeconds) return undefined;
  const { tickMicros } = algorithm;
  const ticks = tickAt(nowSeconds, tickMicros) - tickAt(stood.atSeconds, tickMicros);
  const standing = standingAfter(algorithm, stood.standing, ticks);
  const admitted = countAdmitted(algorithm, standing, { hits: Number(hits), times });
  return admitted === 0 ? standing : undefined;
}

/** The Unix second from which an ask that a counter refuses would fit. */
export function endOfRefusal(
  { algorithm, hits, windowEndSeconds }: Increment,
  standing: Standing,
  nowSeconds: number,
): number {
  if (algorithm === undefined || algorithm.name === 'fixed_window') return windowEndSeconds;
  const { resetSeconds } = outcomeOf(algorithm, standing, { hits: Number(hits), times: 1 }, 1);
  return Math.ceil(nowSeconds) + resetSeconds;
}
