import { freeHits, type CounterState } from '../core/algorithms/counter-state';
import { StoreError } from '../core/errors';
import {
  type CounterBatch,
  type CounterPlace,
  type CounterReply,
  type Counters,
  type Increment,
} from '../core/ports';
import { findKnown, rememberOver, type Known } from './known-refusals';
import { type OverLimitCache } from './over-limit-cache';
import { createReplyDraft, fail, finish, holdBack, takeOver } from './reply-draft';

/** Tells the local caches of all instances which counters are no longer over their limit; once for a batch, never fails. */
export type PublishInvalidation = (counters: readonly CounterPlace[]) => void;

/**
 * Counters that do not ask their store for what is known to be over its limit. Nothing is added then,
 * and `CounterReply.knownOverLimit` says so. Where counters of a request are decided together, one that is known
 * to be over holds back all others, as in the reference: they are looked at only.
 */
export function withOverLimitCache(
  counters: Counters,
  cache: OverLimitCache,
  publishInvalidation?: PublishInvalidation,
): Counters {
  const addAll = async (batch: CounterBatch): Promise<CounterReply> => {
    const { generation } = cache;
    const reply = await counters.add(batch);
    learn(batch, reply, generation);
    return reply;
  };

  const learn = (batch: CounterBatch, reply: CounterReply, generation: number): void => {
    // A message came since the store was asked: its answer may be older.
    if (generation === cache.generation) rememberOver(cache, batch, reply);
    const back = takenBack(batch, reply);
    if (back === undefined) return;
    cache.forgetKeys(back.map(({ key }) => key));
    publishInvalidation?.(back);
  };

  const addRest = async (
    batch: CounterBatch,
    { knownOverLimit: known, states }: Known,
  ): Promise<CounterReply> => {
    const { generation } = cache;
    const { rest, indexes, looks } = withoutKnown(batch, known);
    const draft = { ...createReplyDraft(batch.increments.length), states };
    for (const [index, isKnown] of known.entries()) if (isKnown) draft.after[index] = 0;
    const reply = rest.increments.length === 0 ? undefined : await settled(counters, rest);
    if (reply instanceof StoreError) {
      for (const index of indexes) fail(draft, index, reply);
    } else if (reply !== undefined) {
      indexes.forEach((index, at) => {
        takeOver(draft, index, reply, at);
        if (looks.has(index) && draft.failures?.has(index) !== true)
          holdBack(draft, index, reply.after[at] as number);
      });
      learn(batch, { ...draft, knownOverLimit: known }, generation);
    }
    return { ...finish(draft), knownOverLimit: known };
  };

  return {
    add(batch) {
      const known = findKnown(cache, batch);
      return known === undefined ? addAll(batch) : addRest(batch, known);
    },
    async close() {
      await counters.close();
      cache.close();
    },
  };
}

/** Counters that hits given back took from over their limit to within it; undefined: none. */
function takenBack(
  { increments }: CounterBatch,
  { after, held, failures, states }: CounterReply,
): readonly Increment[] | undefined {
  let back: Increment[] | undefined;
  for (let index = 0; index < increments.length; index += 1) {
    const increment = increments[index] as Increment;
    const { hits } = increment;
    if (hits >= 0 || held?.[index] === true || failures?.has(index) === true) continue;
    if (isTakenBack(increment, after[index] as number, states?.[index]))
      (back ??= []).push(increment);
  }
  return back;
}

function isTakenBack(
  { hits, limit, algorithm }: Increment,
  after: number,
  before: CounterState | undefined,
): boolean {
  if (algorithm !== undefined && before !== undefined) return freeHits(algorithm, before) === 0;
  return after <= limit && after - Number(hits) > limit;
}

interface Rest {
  readonly rest: CounterBatch;
  /** Where each of its increments stood. */
  readonly indexes: readonly number[];
  /** Those that were held back. */
  readonly looks: ReadonlySet<number>;
}

/** The part of a batch that the store is asked. */
function withoutKnown(batch: CounterBatch, known: readonly boolean[]): Rest {
  const { increments, groupEnds, nowSeconds } = batch;
  const indexes: number[] = [];
  const looks = new Set<number>();
  const ends: number[] = [];
  let start = 0;
  for (const end of groupEnds ?? [increments.length]) {
    const isHeld = groupEnds !== undefined && known.slice(start, end).includes(true);
    for (let index = start; index < end; index += 1) {
      if (known[index] === true) continue;
      indexes.push(index);
      // A look is a run of its own, so that it is not held back in its turn.
      if (isHeld) ends.push(indexes.length);
      if (isHeld) looks.add(index);
    }
    if (!isHeld) ends.push(indexes.length);
    start = end;
  }
  const asked = indexes.map((index) => {
    const increment = increments[index] as Increment;
    return looks.has(index) ? { ...increment, hits: 0 } : increment;
  });
  const rest = { increments: asked, groupEnds: groupEnds && ends, nowSeconds };
  return { rest, indexes, looks };
}

async function settled(
  counters: Counters,
  batch: CounterBatch,
): Promise<CounterReply | StoreError> {
  try {
    return await counters.add(batch);
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
}
