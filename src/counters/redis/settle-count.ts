import { type Increment } from '../../core/ports';
import { type Count } from '../count';

/** What is left to do for a key, and the index of the increment that requires it. */
export interface Left<T> {
  readonly what: T;
  readonly index: number;
}

/** Commands that the counts of the first round require, by key. */
export interface FollowUp {
  /** By how much to raise keys that fell below 0. */
  readonly lifts: Map<string, Left<number>>;
  /** The rest of refunds. */
  readonly rests: Map<string, Left<bigint>>;
  /** Keys that were new although their time to live had been set before, with a new one. */
  readonly recreated: Map<string, Left<number>>;
}

/**
 * The part of a refund in the first INCRBY: more than any limit, and few enough that a negative answer is exact as a double, even
 * after several of them. The rest follows where the counter held more.
 */
const REFUND_AT_ONCE = 2 ** 48;

export function atOnce(hits: Count): Count {
  return hits < -REFUND_AT_ONCE ? -REFUND_AT_ONCE : hits;
}

export interface Settling {
  readonly followUp: FollowUp;
  /** The keys that got an EXPIRE in the first round. */
  readonly expired: ReadonlySet<string | undefined>;
}

/** The count that an increment reports: the server's answer, as if the counter had stopped at 0 each time. */
export function settleCount(
  { key, hits, ttlSeconds }: Increment,
  index: number,
  answer: number,
  { followUp: { lifts, rests, recreated }, expired }: Settling,
): number {
  const lifted = lifts.get(key)?.what ?? 0;
  const count = answer + lifted;
  const sent = atOnce(hits);
  if (count === Number(sent) && !expired.has(key)) recreated.set(key, { what: ttlSeconds, index });
  if (count < 0) {
    // Never more than was taken here: others raise what they took.
    const what = lifted + Math.min(-count, Math.max(0, -Number(sent)));
    lifts.set(key, { what, index });
    return 0;
  }
  if (sent === hits) return count;
  const rest = BigInt(sent) - BigInt(hits);
  rests.set(key, { what: (rests.get(key)?.what ?? 0n) + rest, index });
  return Math.max(0, count - Number(rest));
}
