import { StoreError } from '../core/errors';
import type { CounterBatch, CounterReply, Counters, Increment } from '../core/ports';
import { planHoldBack } from './hold-back';
import { createReplyDraft, fail, holdBack, toReply, type ReplyDraft } from './reply-draft';

/** Counters that can also be looked at without creating them. */
export interface ReadableCounters extends Counters {
  /** The counts of these keys; 0 for a key that does not exist. What cannot be read is missing. */
  read(keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** How the parts over which counters are spread are used. */
export interface SplitOptions<P> {
  readonly add: (part: P, batch: CounterBatch) => Promise<CounterReply>;
  /** See `ReadableCounters`. */
  readonly read: (part: P, keys: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Parts that are asked at the same time; 0: all. */
  readonly parallelism: number;
  /** A request's increments lie in several parts: they are held back by a read and then an add. */
  readonly onNotAtomic: () => void;
}

interface Share {
  readonly increments: Increment[];
  /** Where they stand in the batch. */
  readonly places: number[];
  readonly runEnds: number[] | undefined;
}

/**
 * Applies a batch, which holds something, to the parts in which its counters lie, each with one call, and puts the replies
 * together. A part that fails, fails its own increments; rejects when all failed.
 */
export async function addSplit<P>(
  batch: CounterBatch,
  partOf: (increment: Increment) => P,
  options: SplitOptions<P>,
): Promise<CounterReply> {
  const { add, parallelism, onNotAtomic } = options;
  const parts = batch.increments.map(partOf);
  const first = parts[0] as P;
  if (parts.every((part) => part === first)) return add(first, batch);
  const draft = createReplyDraft(batch.increments.length);
  if (batch.runEnds !== undefined && !areRunsWhole(batch.runEnds, parts)) {
    onNotAtomic();
    await planAcross(batch, parts, options, draft);
  }
  const shares = deal(batch, parts, draft);
  await forEachOf(shares, parallelism, async ([part, share]) => {
    const { increments, places, runEnds } = share;
    const asked = { increments, runEnds, nowSeconds: batch.nowSeconds };
    try {
      take(await add(part, asked), places, draft);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      for (const place of places) fail(draft, place, error);
    }
  });
  return toReply(draft);
}

function areRunsWhole(runEnds: readonly number[], parts: readonly unknown[]): boolean {
  let start = 0;
  for (const end of runEnds) {
    for (let at = start + 1; at < end; at += 1) if (parts[at] !== parts[start]) return false;
    start = end;
  }
  return true;
}

/** Decides for the whole batch what is held back, from counts that were read before. */
async function planAcross<P>(
  batch: CounterBatch,
  parts: readonly P[],
  { read, parallelism }: SplitOptions<P>,
  draft: ReplyDraft,
): Promise<void> {
  const keys = new Map<P, Set<string>>();
  parts.forEach((part, at) => {
    const { key } = batch.increments[at] as Increment;
    const known = keys.get(part);
    if (known === undefined) keys.set(part, new Set([key]));
    else known.add(key);
  });
  const counts = new Map<string, number>();
  await forEachOf(keys, parallelism, async ([part, names]) => {
    try {
      for (const [key, count] of await read(part, [...names])) counts.set(key, count);
    } catch (error) {
      // What cannot be read cannot be added to either, and fails then.
      if (!(error instanceof StoreError)) throw error;
    }
  });
  for (const [index, count] of planHoldBack(batch, counts)) holdBack(draft, index, count);
}

/** Shares out what is not held back, in order; runs go along unless they have been decided on. */
function deal<P>(
  { increments, runEnds }: CounterBatch,
  parts: readonly P[],
  { held }: ReplyDraft,
): ReadonlyMap<P, Share> {
  const shares = new Map<P, Share>();
  const isDecided = runEnds === undefined || !areRunsWhole(runEnds, parts);
  const shareOf = (part: P): Share => {
    const known = shares.get(part);
    if (known !== undefined) return known;
    const share = { increments: [], places: [], runEnds: isDecided ? undefined : [] };
    shares.set(part, share);
    return share;
  };
  increments.forEach((increment, at) => {
    if (held?.[at] === true) return;
    const share = shareOf(parts[at] as P);
    share.increments.push(increment);
    share.places.push(at);
  });
  if (isDecided) return shares;
  let start = 0;
  for (const end of runEnds) {
    const share = start === end ? undefined : shares.get(parts[start] as P);
    share?.runEnds?.push((share.runEnds.at(-1) ?? 0) + end - start);
    start = end;
  }
  return shares;
}

function take(
  { after, held, failures }: CounterReply,
  places: readonly number[],
  draft: ReplyDraft,
): void {
  places.forEach((place, at) => {
    const failure = failures?.get(at);
    const count = after[at] as number;
    if (failure !== undefined) fail(draft, place, failure);
    else if (held?.[at] === true) holdBack(draft, place, count);
    else draft.after[place] = count;
  });
}

/** Does something with every item, with so many at the same time; 0: all. */
async function forEachOf<T>(
  items: Iterable<T>,
  parallelism: number,
  act: (item: T) => Promise<void>,
): Promise<void> {
  const left = [...items];
  const size = parallelism === 0 ? left.length : Math.min(parallelism, left.length);
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: size }, work));
}
