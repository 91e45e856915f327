import type { Ask, Plan } from '../core/counters/plan';
import type { Outage } from '../core/decision/outage';
import type { CounterReply } from '../core/ports';

/** What the counters say of a batch. */
export interface Counted {
  readonly reply: CounterReply;
  /** Undefined when the store counted all of it. */
  readonly outage: Outage | undefined;
  /**
   * Where the descriptors of one request do not see each other's hits: for each increment, the index of its first ask in
   * the request that is being judged. Requests are judged in order, so that an older index is below their start.
   */
  readonly firstAsks: Int32Array | undefined;
}

export function createFirstAsks({ increments }: Plan): Int32Array {
  return new Int32Array(increments.length).fill(-1);
}

/** Notes the ask at `index` of a request that begins at `start`, unless the request has asked for its increment before. */
export function noteFirst(firstAsks: Int32Array, ask: Ask, index: number, start: number): void {
  const { increment } = ask;
  if (increment !== -1 && (firstAsks[increment] as number) < start) firstAsks[increment] = index;
}

/** The hits of an ask's increment that came after its own. */
export function hitsAfter({ increment, hitsUpTo }: Ask, { increments }: Plan): number {
  return Number(increments[increment]?.hits) - hitsUpTo;
}

/** All hits of an ask's increment but its own and those of the requests before. */
export function hitsBeside(ask: Ask, plan: Plan, firstAsks: Int32Array): number {
  const { hits, hitsUpTo } = plan.asks[firstAsks[ask.increment] as number] as Ask;
  const earlier = hitsUpTo - hits;
  return Number(plan.increments[ask.increment]?.hits) - earlier - ask.hits;
}
