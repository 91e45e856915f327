import { StoreError } from '../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import { createReplyDraft, fail, holdBack, toReply, type ReplyDraft } from '../reply-draft';
import { addHits, toKeyError } from '../count';
import { decideRuns, isOverAt } from '../hold-back';
import { type Counts, type NodeCounters } from './node-counters';
import { faultOfKey } from './protocol';

/** The increments of a batch that one connection takes: indexes in the batch, in order. */
type Share = readonly [node: NodeCounters, indexes: readonly number[]];

/**
 * Reads every counter of a batch, with one write to each connection, answers, and adds in the background.
 * Gives the reply exactly once, or the error when nothing of the batch could be counted.
 */
export function countBatch(
  batch: CounterBatch,
  nodeOf: (key: string) => NodeCounters,
  then: (reply: CounterReply | StoreError) => void,
): void {
  const draft = createReplyDraft(batch.increments.length);
  const shares = [...shareOut(batch, nodeOf, draft)];
  const merged: Counts = new Map();
  let left = shares.length;

  const finish = (): void => {
    if (batch.groupEnds !== undefined) applyRuns(batch, shares, merged, draft);
    then(replyOf(draft));
  };
  for (const share of shares) {
    const [node, indexes] = share;
    node.read(keysOf(batch, indexes), (counts) => {
      if (counts instanceof StoreError) failShare(draft, indexes, counts);
      else if (batch.groupEnds === undefined) applyShare(batch, share, counts, draft);
      else for (const [key, count] of counts) merged.set(key, count);
      left -= 1;
      if (left === 0) finish();
    });
  }
  if (shares.length === 0) finish();
}

function replyOf(draft: ReplyDraft): CounterReply | StoreError {
  try {
    return toReply(draft);
  } catch (error) {
    return error as StoreError;
  }
}

function shareOut(
  { increments }: CounterBatch,
  nodeOf: (key: string) => NodeCounters,
  draft: ReplyDraft,
): ReadonlyMap<NodeCounters, readonly number[]> {
  const shares = new Map<NodeCounters, number[]>();
  increments.forEach(({ key }, index) => {
    const fault = faultOfKey(key);
    if (fault !== undefined) {
      fail(draft, index, toKeyError(fault));
      return;
    }
    const node = nodeOf(key);
    const share = shares.get(node);
    if (share === undefined) shares.set(node, [index]);
    else share.push(index);
  });
  return shares;
}

function keysOf({ increments }: CounterBatch, indexes: readonly number[]): readonly string[] {
  const keys = new Set<string>();
  for (const index of indexes) keys.add((increments[index] as Increment).key);
  return [...keys];
}

function failShare(draft: ReplyDraft, indexes: readonly number[], error: StoreError): void {
  for (const index of indexes) fail(draft, index, error);
}

/** Every increment by itself: its count goes into the reply and its hits to the node. */
function applyShare(
  { increments, nowSeconds }: CounterBatch,
  [node, indexes]: Share,
  counts: Counts,
  draft: ReplyDraft,
): void {
  const added: Increment[] = [];
  for (const index of indexes) {
    const increment = increments[index] as Increment;
    if (applyOne(draft, index, increment, counts)) added.push(increment);
  }
  node.writes.add(added, nowSeconds);
}

function applyOne(
  draft: ReplyDraft,
  index: number,
  { key, hits }: Increment,
  counts: Counts,
): boolean {
  const before = counts.get(key) ?? 0;
  const after = before instanceof StoreError ? before : addHits(before, hits);
  if (after instanceof StoreError) {
    fail(draft, index, after);
    return false;
  }
  counts.set(key, after);
  draft.after[index] = Number(after);
  return true;
}

/** Decides what is held back, and adds the rest. */
function applyRuns(
  batch: CounterBatch,
  shares: readonly Share[],
  counts: Counts,
  draft: ReplyDraft,
): void {
  const { increments, nowSeconds } = batch;
  const added = new Set<number>();
  const hasFailed = (index: number): boolean => draft.failures?.has(index) === true;
  decideRuns(batch, {
    // A counter that cannot be read counts as 0.
    look: ({ key }) => Number(counts.get(key) ?? 0) || 0,
    isOver: isOverAt,
    add(index, increment) {
      if (!hasFailed(index) && applyOne(draft, index, increment, counts)) added.add(index);
    },
    holdBack(index, count) {
      if (!hasFailed(index)) holdBack(draft, index, count);
    },
  });
  for (const [node, indexes] of shares) {
    const ofNode = indexes.filter((index) => added.has(index));
    node.writes.add(
      ofNode.map((index) => increments[index] as Increment),
      nowSeconds,
    );
  }
}
