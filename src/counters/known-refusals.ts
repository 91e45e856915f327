import { countAdmitted, stateAfterAsks } from '../core/algorithms/apply-asks';
import { type CounterState } from '../core/algorithms/counter-state';
import { type CounterBatch, type CounterReply, type Increment } from '../core/ports';
import { type OverLimitCache } from './over-limit-cache';

/** What the cache knows of a batch. */
export interface Known {
  /** Increments that need no call to the store: they are over. */
  readonly knownOverLimit: boolean[];
  /** Where those of them stand that have an algorithm; undefined when none has. */
  readonly states: (CounterState | undefined)[] | undefined;
}

/** What of a batch is known to be over; undefined: nothing. Forgets counters to which hits are given back. */
export function findKnown(
  cache: OverLimitCache,
  { increments, nowSeconds }: CounterBatch,
): Known | undefined {
  let known: boolean[] | undefined;
  let states: (CounterState | undefined)[] | undefined;
  for (let index = 0; index < increments.length; index += 1) {
    const increment = increments[index] as Increment;
    if (increment.hits < 0) {
      cache.forget(increment);
      continue;
    }
    if (increment.algorithm === undefined) {
      if (!cache.isOver(increment, nowSeconds)) continue;
    } else {
      const state = isCached(increment) ? cache.refusing(increment, nowSeconds) : undefined;
      if (state === undefined) continue;
      states ??= new Array<CounterState | undefined>(increments.length).fill(undefined);
      states[index] = state;
    }
    known ??= new Array<boolean>(increments.length).fill(false);
    known[index] = true;
  }
  return known && { knownOverLimit: known, states };
}

/** Remembers what a batch that was counted has shown to be over. */
export function rememberOver(
  cache: OverLimitCache,
  { increments, nowSeconds }: CounterBatch,
  reply: CounterReply,
): void {
  for (let index = 0; index < increments.length; index += 1) {
    const increment = increments[index] as Increment;
    if (reply.knownOverLimit?.[index] === true) continue;
    const state = reply.states?.[index];
    if (state === undefined) {
      if (isOverByCount(increment, reply, index)) cache.remember(increment, nowSeconds);
    } else if (reply.held?.[index] !== true) rememberRefusal(cache, increment, state, nowSeconds);
  }
}

function isOverByCount({ limit }: Increment, { after, failures }: CounterReply, index: number) {
  return (after[index] as number) > limit && failures?.has(index) !== true;
}

/** A look is never refused, and a rule that charges what it refuses would lose charges. */
function isCached({ algorithm, hits }: Increment): boolean {
  return hits !== 0 && algorithm?.chargeDenied !== true;
}

function rememberRefusal(
  cache: OverLimitCache,
  increment: Increment,
  state: CounterState,
  nowSeconds: number,
): void {
  const { algorithm, times = 1 } = increment;
  const hits = Number(increment.hits);
  if (algorithm === undefined || hits <= 0 || algorithm.chargeDenied) return;
  const admitted = countAdmitted(algorithm, state, { hits, times });
  if (admitted === times) {
    // What is known of it is no longer all.
    cache.forget(increment);
    return;
  }
  const after = stateAfterAsks(algorithm, state, hits, times, admitted);
  cache.rememberState(increment, after, nowSeconds);
}
