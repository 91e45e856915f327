import { StoreError } from '../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../core/ports';
import { createReplyDraft, fail, holdBack, toReply, type ReplyDraft } from '../reply-draft';
import { addHits } from './count';
import { faultOfKey } from './key';
import { type Counts, type LaneCounts } from './lane-counts';
import { toKeyError } from './store-errors';

/** What of a batch one connection takes: places in the batch, in order. */
type Share = readonly [lane: LaneCounts, indexes: readonly number[]];

/**
 * Reads every counter of a batch at once, one question for each connection, answers, and adds in the
 * background. Gives the reply exactly once, or the error when nothing of the batch could be counted.
 */
export function countBatch(
  batch: CounterBatch,
  laneOf: (key: string) => LaneCounts,
  then: (reply: CounterReply | StoreError) => void,
): void {
  const draft = createReplyDraft(batch.increments.length);
  const shares = [...shareOut(batch, laneOf, draft)];
  const merged: Counts = new Map();
  let left = shares.length;

  const finish = (): void => {
    if (batch.runEnds !== undefined) applyRuns(batch, shares, merged, draft);
    then(replyOf(draft));
  };
  for (const share of shares) {
    const [lane, indexes] = share;
    lane.read(keysOf(batch, indexes), (counts) => {
      if (counts instanceof StoreError) failShare(draft, indexes, counts);
      else if (batch.runEnds === undefined) applyShare(batch, share, counts, draft);
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
  laneOf: (key: string) => LaneCounts,
  draft: ReplyDraft,
): ReadonlyMap<LaneCounts, readonly number[]> {
  const shares = new Map<LaneCounts, number[]>();
  increments.forEach(({ key }, index) => {
    const fault = faultOfKey(key);
    if (fault !== undefined) {
      fail(draft, index, toKeyError(fault));
      return;
    }
    const lane = laneOf(key);
    const share = shares.get(lane);
    if (share === undefined) shares.set(lane, [index]);
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

/** Every increment by itself: its count goes into the reply and its hits on their way. */
function applyShare(
  { increments, nowSeconds }: CounterBatch,
  [lane, indexes]: Share,
  counts: Counts,
  draft: ReplyDraft,
): void {
  const added: Increment[] = [];
  for (const index of indexes) {
    const increment = increments[index] as Increment;
    if (applyOne(draft, index, increment, counts)) added.push(increment);
  }
  lane.adds.add(added, nowSeconds);
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

/** Run after run: when one of a run would go over its limit, the others are held back (behaviour.md §3.6). */
function applyRuns(
  batch: CounterBatch,
  shares: readonly Share[],
  counts: Counts,
  draft: ReplyDraft,
): void {
  const { increments, runEnds = [], nowSeconds } = batch;
  const added = new Set<number>();
  let start = 0;
  for (const end of runEnds) {
    for (const index of applyRun(increments, start, end, counts, draft)) added.add(index);
    start = end;
  }
  for (const [lane, indexes] of shares) {
    const ofLane = indexes.filter((index) => added.has(index));
    lane.adds.add(
      ofLane.map((index) => increments[index] as Increment),
      nowSeconds,
    );
  }
}

function applyRun(
  increments: readonly Increment[],
  start: number,
  end: number,
  counts: Counts,
  draft: ReplyDraft,
): readonly number[] {
  const run = increments.slice(start, end);
  const seen = run.map(({ key }) => Number(counts.get(key) ?? 0) || 0);
  const overs = run.map(({ hits, limit }, at) => (seen[at] ?? 0) + Number(hits) > limit);
  const isAnyOver = overs.includes(true);
  const added: number[] = [];
  run.forEach((increment, at) => {
    const index = start + at;
    if (draft.failures?.has(index) === true) return;
    if (isAnyOver && overs[at] !== true) holdBack(draft, index, seen[at] ?? 0);
    else if (applyOne(draft, index, increment, counts)) added.push(index);
  });
  return added;
}
