import { StoreError } from '../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import {
  createReplyDraft,
  fail,
  holdBackAt,
  toReply,
  type ReplyDraft,
  deal,
  scatter,
  type SubBatch,
} from '../../core/batches/reply-draft';
import { addHits, toKeyError } from '../count';
import { decideRuns } from '../hold-back';
import { type Counts, type NodeCounters } from './node-counters';
import { faultOfKey } from './protocol';

/** The increments of a batch for one connection. */
type Share = readonly [node: NodeCounters, part: SubBatch];

/**
 * Reads every counter of a batch, with one write per connection, replies, and adds in the background. Hits whose exact count is
 * needed are added at once, outside of runs. Gives the reply exactly once, or the error when no increment could be counted.
 */
export function countBatch(
  batch: CounterBatch,
  nodeOf: (key: string) => NodeCounters,
  then: (reply: CounterReply | StoreError) => void,
): void {
  const draft = createReplyDraft(batch.increments.length);
  const isTaken = isKeyTaken(draft);
  const exact: number[] = [];
  const isRead = (increment: Increment, index: number): boolean => {
    if (!isTaken(increment, index)) return false;
    if (increment.isExact === true) exact.push(index);
    return increment.isExact !== true;
  };
  const shares = [...deal(batch, ({ key }) => nodeOf(key), isRead)];
  const merged: Counts = new Map();
  let left = shares.length + exact.length;

  const finish = (): void => {
    if (batch.groupEnds !== undefined) applyRuns(batch, shares, merged, draft);
    then(replyOf(draft));
  };
  for (const share of shares) {
    const [node, part] = share;
    node.read(keysOf(part), (counts) => {
      if (counts instanceof StoreError) scatter(draft, part.places, counts);
      else if (batch.groupEnds === undefined) applyShare(share, counts, draft);
      else for (const [key, count] of counts) merged.set(key, count);
      left -= 1;
      if (left === 0) finish();
    });
  }
  for (const index of exact) {
    const increment = batch.increments[index] as Increment;
    nodeOf(increment.key).writes.addExact(increment, batch.nowSeconds, (after) => {
      if (after instanceof StoreError) fail(draft, index, after);
      else draft.after[index] = Number(after);
      left -= 1;
      if (left === 0) finish();
    });
  }
  if (shares.length + exact.length === 0) finish();
}

function replyOf(draft: ReplyDraft): CounterReply | StoreError {
  try {
    return toReply(draft);
  } catch (error) {
    return error as StoreError;
  }
}

/** Whether the key of an increment can be sent; fails it if not. */
function isKeyTaken(draft: ReplyDraft) {
  return ({ key }: Increment, index: number): boolean => {
    const fault = faultOfKey(key);
    if (fault !== undefined) fail(draft, index, toKeyError(fault));
    return fault === undefined;
  };
}

function keysOf({ increments }: SubBatch): readonly string[] {
  return [...new Set(increments.map(({ key }) => key))];
}

/** Independent increments: replies with the count and adds the hits on the node. */
function applyShare([node, part]: Share, counts: Counts, draft: ReplyDraft): void {
  const { increments, places, nowSeconds } = part;
  const isAdded = (increment: Increment, at: number): boolean =>
    applyOne(draft, places[at] as number, increment, counts);
  node.writes.add(increments.filter(isAdded), nowSeconds);
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
  const added = new Set<number>();
  const hasFailed = (index: number): boolean => draft.failures?.has(index) === true;
  decideRuns(batch, {
    // A counter that cannot be read counts as 0.
    read: ({ key }) => Number(counts.get(key) ?? 0) || 0,
    add(index, increment) {
      if (!hasFailed(index) && applyOne(draft, index, increment, counts)) added.add(index);
    },
    holdBack(index, reading) {
      if (!hasFailed(index)) holdBackAt(draft, index, reading);
    },
  });
  for (const [node, { increments, places, nowSeconds }] of shares) {
    const isAdded = (_: Increment, at: number): boolean => added.has(places[at] as number);
    node.writes.add(increments.filter(isAdded), nowSeconds);
  }
}
