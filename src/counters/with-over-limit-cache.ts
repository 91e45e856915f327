import {
  createReplyDraft,
  finish,
  holdBackAt,
  readingAt,
  type ReplyDraft,
  pick,
  scatter,
} from '../core/batches/reply-draft';
import { settled, StoreError } from '../core/errors';
import type { State } from '../core/kinds/kind';
import {
  type CounterBatch,
  type CounterPlace,
  type CounterReply,
  type Counters,
  type Increment,
} from '../core/ports';
import { isEnding } from './hold-back';
import { readOf } from './roll-back';
import { type OverLimitCache } from './over-limit-cache';
import { isBudgetLimiter } from '../core/budgets/budget';

/**
 * Publishes to the local caches of all instances which counters are no longer over their limit; once per batch, never fails.
 * `isReset`: they were reset or set, so that their leases end too.
 */
export type PublishInvalidation = (counters: readonly CounterPlace[], isReset?: boolean) => void;

/** Which increments a cache is for. */
type Keeps = (increment: Increment) => boolean;

interface CacheUse {
  readonly publishInvalidation?: PublishInvalidation | undefined;
  /** Default: all. */
  readonly keeps?: Keeps;
}

/**
 * Counters that do not call their store for counters known to be over their limit. Nothing is added then, and
 * `CounterReply.knownOverLimit` says so. Where counters of a request are decided together, one that is known to be over holds back
 * all others, as in the reference: they are only read.
 */
export function withOverLimitCache(
  counters: Counters,
  cache: OverLimitCache,
  { publishInvalidation, keeps = () => true }: CacheUse = {},
): Counters {
  const addAll = async (batch: CounterBatch): Promise<CounterReply> => {
    const { generation } = cache;
    const reply = await counters.add(batch);
    learn(batch, reply, generation);
    return reply;
  };

  const learn = (batch: CounterBatch, reply: CounterReply, generation: number): void => {
    // A message came since the store was called: its reply may be older.
    if (generation === cache.generation) rememberOver(cache, keeps, batch, reply);
    const back = takenBack(batch, reply, keeps);
    if (back === undefined) return;
    cache.forgetKeys(back.map(({ key }) => key));
    publishInvalidation?.(back);
  };

  const addRest = async (
    batch: CounterBatch,
    { knownOverLimit: known, states }: Known,
  ): Promise<CounterReply> => {
    const { generation } = cache;
    const { part, reads } = withoutKnown(batch, known);
    const draft: ReplyDraft = {
      ...createReplyDraft(batch.increments.length),
      states,
      knownOverLimit: known,
    };
    for (const [index, isKnown] of known.entries()) if (isKnown) draft.after[index] = 0;
    if (part.places.length > 0) {
      const reply = await settled(() => counters.add(part));
      scatter(draft, part.places, reply);
      for (const read of reads)
        if (draft.failures?.has(read) !== true) holdBackAt(draft, read, readingAt(draft, read));
      if (!(reply instanceof StoreError)) learn(batch, draft, generation);
    }
    return finish(draft);
  };

  return {
    add(batch) {
      const known = findKnown(cache, keeps, batch);
      return known === undefined ? addAll(batch) : addRest(batch, known);
    },
    async close() {
      await counters.close();
      cache.close();
    },
  };
}

/** What the cache knows of a batch. */
interface Known {
  /** Increments that need no store call: they are over. */
  readonly knownOverLimit: boolean[];
  /** The known states of those counters; undefined when there are none. */
  readonly states: (State | undefined)[] | undefined;
}

/** The increments of a batch known to be over; undefined: none. Drops counters that get a refund. */
function findKnown(
  cache: OverLimitCache,
  keeps: Keeps,
  { increments, nowSeconds }: CounterBatch,
): Known | undefined {
  let known: boolean[] | undefined;
  let states: (State | undefined)[] | undefined;
  for (let index = 0; index < increments.length; index += 1) {
    const increment = increments[index] as Increment;
    if (!keeps(increment)) continue;
    if (increment.hits < 0) {
      cache.forget(increment);
      continue;
    }
    if (!increment.limiter.kind.isRecalled(increment)) continue;
    const reading = cache.refusing(increment, nowSeconds);
    if (reading === undefined) continue;
    (known ??= new Array<boolean>(increments.length).fill(false))[index] = true;
    if (typeof reading === 'number') continue;
    states ??= new Array<State | undefined>(increments.length).fill(undefined);
    states[index] = reading;
  }
  return known && { knownOverLimit: known, states };
}

/** Caches the counters that a batch has shown to be over. */
function rememberOver(
  cache: OverLimitCache,
  keeps: Keeps,
  { increments, nowSeconds }: CounterBatch,
  reply: CounterReply,
): void {
  for (let index = 0; index < increments.length; index += 1) {
    if (reply.knownOverLimit?.[index] === true || reply.failures?.has(index) === true) continue;
    const increment = increments[index] as Increment;
    if (!keeps(increment)) continue;
    const reading = readingAt(reply, index);
    const isHeld = reply.held?.[index] === true;
    const refusal = increment.limiter.kind.refusal(increment, reading, isHeld);
    // Where nothing was refused, the cached state is out of date.
    if (refusal === 'none') cache.forget(increment);
    else if (refusal !== undefined) cache.remember(increment, refusal, nowSeconds);
  }
}

/** Counters that a refund took from over their limit to within it; undefined: none. */
function takenBack(
  { increments }: CounterBatch,
  reply: CounterReply,
  keeps: Keeps,
): readonly Increment[] | undefined {
  let back: Increment[] | undefined;
  for (let index = 0; index < increments.length; index += 1) {
    const increment = increments[index] as Increment;
    if (increment.hits >= 0 || !keeps(increment)) continue;
    if (reply.held?.[index] === true || reply.failures?.has(index) === true) continue;
    const reading = readingAt(reply, index);
    if (increment.limiter.kind.isTakenBack(increment, reading)) (back ??= []).push(increment);
  }
  return back;
}

/** The part of a batch that goes to the store, and which of it are held back, so that they are only read. */
function withoutKnown(batch: CounterBatch, known: readonly boolean[]) {
  const { increments, groupEnds } = batch;
  const isUnknown = (_: Increment, place: number): boolean => known[place] !== true;
  const reads = new Set<number>();
  if (groupEnds === undefined) return { part: pick(batch, isUnknown), reads };
  const ends: number[] = [];
  let start = 0;
  for (const end of groupEnds) {
    const isHeld = holdsBackAny(increments, known, start, end);
    // A read is a run of its own, so that it is not held back in its turn.
    for (let place = start; isHeld && place < end; place += 1) {
      if (known[place] !== true && !isEnding(increments[place] as Increment)) reads.add(place);
      ends.push(place + 1);
    }
    if (!isHeld) ends.push(end);
    start = end;
  }
  const remaining = increments.map((one, place) => (reads.has(place) ? readOf(one) : one));
  return { part: pick({ ...batch, increments: remaining, groupEnds: ends }, isUnknown), reads };
}

/** Whether an increment of a request is known to be over that holds the others back. */
function holdsBackAny(
  increments: readonly Increment[],
  known: readonly boolean[],
  start: number,
  end: number,
): boolean {
  for (let place = start; place < end; place += 1)
    if (known[place] === true && increments[place]?.holdsBack !== false) return true;
  return false;
}

/**
 * Counters that do not call their store for keys that a `block` refuses (budgets.md section 6); all other keys go to the store.
 * `onUsed`: a rule with `block` was used, so messages to the cache must be received from now on.
 */
export function withBlockedKeys(
  counters: Counters,
  cache: OverLimitCache,
  onUsed: () => void,
): Counters {
  const cached = withOverLimitCache(counters, cache, { keeps: mayBeBlocked });
  return {
    add(batch) {
      if (!batch.increments.some(mayBeBlocked)) return counters.add(batch);
      onUsed();
      return cached.add(batch);
    },
    close: () => cached.close(),
  };
}

/** Drops counters here and elsewhere, but only those that may be blocked. */
export function forgettingBlocked(
  cache: OverLimitCache,
  publish: PublishInvalidation,
): PublishInvalidation {
  return (places) => {
    const blocked = places.filter(hasBlocks);
    if (blocked.length === 0) return;
    cache.forgetKeys(blocked.map(({ key }) => key));
    publish(blocked);
  };
}

function mayBeBlocked({ limiter }: Increment): boolean {
  // The first is false for nearly all.
  return limiter.isNeverMerged && isBudgetLimiter(limiter) && limiter.budget.blocks.length > 0;
}

function hasBlocks({ rule: { limiter } }: CounterPlace): boolean {
  return isBudgetLimiter(limiter) && limiter.budget.blocks.length > 0;
}
