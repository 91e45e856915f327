import { StoreError } from '../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import { createReplyDraft, failedReply, finish, takeOver } from '../reply-draft';
import { applyAlgorithms } from './apply-algorithms';
import { applyFixed } from './apply-fixed';
import { type RedisConnection } from './connection';
import { type Sending } from './sending';

/** How many increments of a batch count by an algorithm. */
export function countAlgorithms(increments: readonly Increment[]): number {
  let count = 0;
  for (const { algorithm } of increments) if (algorithm !== undefined) count += 1;
  return count;
}

/**
 * Applies a batch in which increments have an algorithm. Without runs plain fixed windows take a call of their own, which is
 * cheaper; both leave in one write. Runs are decided together, by the script that knows all algorithms, and so are both where
 * they meet in a key: their order counts.
 */
export async function applyMixed(
  connection: RedisConnection,
  batch: CounterBatch,
  isAlgorithmsOnly: boolean,
  sending: Sending,
): Promise<CounterReply> {
  const isOrdered = batch.groupEnds !== undefined || haveKeyInCommon(batch);
  const isTogether = isOrdered && connection.usesScripts;
  if (isAlgorithmsOnly || isTogether) return applyAlgorithms(connection, batch, sending);
  const shares = [shareOf(batch, false), shareOf(batch, true)] as const;
  const { stream } = connection.client;
  stream.cork();
  const calls = [
    applyFixed(connection, shares[0].batch, sending),
    applyAlgorithms(connection, shares[1].batch, sending),
  ];
  stream.uncork();
  const settled = await Promise.allSettled(calls);
  const draft = createReplyDraft(batch.increments.length);
  shares.forEach(({ batch: share, places }, at) => {
    const result = settled[at] as PromiseSettledResult<CounterReply>;
    const reply = result.status === 'fulfilled' ? result.value : toFailed(share, result.reason);
    places.forEach((place, index) => {
      takeOver(draft, place, reply, index);
    });
  });
  return finish(draft);
}

/** Whether a plain increment counts under the key of one with an algorithm: only fixed windows have keys like those. */
function haveKeyInCommon({ increments }: CounterBatch): boolean {
  let keys: Set<string> | undefined;
  for (const { algorithm, key } of increments)
    if (algorithm?.name === 'fixed_window') (keys ??= new Set()).add(key);
  if (keys === undefined) return false;
  return increments.some(({ algorithm, key }) => algorithm === undefined && keys.has(key));
}

function toFailed({ increments }: CounterBatch, error: unknown): CounterReply {
  if (error instanceof StoreError) return failedReply(increments, error);
  throw error;
}

interface Share {
  readonly batch: CounterBatch;
  /** Where its increments stand in the whole. */
  readonly places: readonly number[];
}

/** The increments with an algorithm, or those without; runs keep what is theirs. */
function shareOf({ increments, groupEnds, nowSeconds }: CounterBatch, isAlgorithm: boolean): Share {
  const places: number[] = [];
  const ends: number[] = [];
  let start = 0;
  for (const end of groupEnds ?? [increments.length]) {
    for (let at = start; at < end; at += 1)
      if ((increments[at]?.algorithm !== undefined) === isAlgorithm) places.push(at);
    ends.push(places.length);
    start = end;
  }
  const own = places.map((place) => increments[place] as Increment);
  return { batch: { increments: own, groupEnds: groupEnds && ends, nowSeconds }, places };
}
