import { type CounterState } from '../core/algorithms/counter-state';
import { StoreError } from '../core/errors';
import type { CounterBatch, CounterReply, Counters, Increment } from '../core/ports';
import { planHoldBack, type ReadCounters } from './hold-back';
import {
  createReplyDraft,
  fail,
  finish,
  holdBackAt,
  refuseIfNothing,
  takeOver,
  type ReplyDraft,
} from './reply-draft';

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
  readonly groupEnds: number[] | undefined;
}

/**
 * Applies a batch, which holds something, to the parts in which its counters lie, each with one call, and puts the replies
 * together. A part that fails, fails its own increments; rejects when all failed.
 */
export async function addSplit<P>(
  batch: CounterBatch,
  partOf: (increment: Increment, at: number) => P,
  options: SplitOptions<P>,
): Promise<CounterReply> {
  return refuseIfNothing(await settleSplit(batch, partOf, options));
}

/** The same; when all failed, each failure is in the reply. */
export async function settleSplit<P>(
  batch: CounterBatch,
  partOf: (increment: Increment, at: number) => P,
  options: SplitOptions<P>,
): Promise<CounterReply> {
  const { add, parallelism, onNotAtomic } = options;
  const parts = batch.increments.map(partOf);
  const first = parts[0] as P;
  if (parts.every((part) => part === first)) return add(first, batch);
  const draft = createReplyDraft(batch.increments.length);
  if (batch.groupEnds !== undefined && !areRunsWhole(batch.groupEnds, parts)) {
    onNotAtomic();
    await planAcross(batch, parts, options, draft);
  }
  const shares = deal(batch, parts, draft);
  await forEachOf(shares, parallelism, async ([part, share]) => {
    const { increments, places, groupEnds } = share;
    const asked = { increments, groupEnds, nowSeconds: batch.nowSeconds };
    try {
      const reply = await add(part, asked);
      places.forEach((place, at) => {
        takeOver(draft, place, reply, at);
      });
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      for (const place of places) fail(draft, place, error);
    }
  });
  return finish(draft);
}

function areRunsWhole(groupEnds: readonly number[], parts: readonly unknown[]): boolean {
  let start = 0;
  for (const end of groupEnds) {
    for (let at = start + 1; at < end; at += 1) if (parts[at] !== parts[start]) return false;
    start = end;
  }
  return true;
}

/** Decides for the whole batch what is held back, from counters that were read before. */
async function planAcross<P>(
  batch: CounterBatch,
  parts: readonly P[],
  options: SplitOptions<P>,
  draft: ReplyDraft,
): Promise<void> {
  const read = await readCounters(batch, parts, options);
  for (const [index, seen] of planHoldBack(batch, read)) {
    holdBackAt(draft, index, seen);
  }
}

/** The counters of a batch as they stand, each read from the part of its increment. */
export async function readCounters<P>(
  batch: CounterBatch,
  parts: readonly P[],
  options: SplitOptions<P>,
): Promise<ReadCounters> {
  const keys = new Map<P, Set<string>>();
  const looks = new Map<P, Map<string, Increment>>();
  parts.forEach((part, at) => {
    const increment = batch.increments[at] as Increment;
    if (increment.algorithm === undefined) listOf(keys, part, newSet).add(increment.key);
    else listOf(looks, part, newMap).set(increment.key, { ...increment, hits: 0 });
  });
  const [counts, states] = await Promise.all([
    readCounts(keys, options),
    readStates(looks, batch.nowSeconds, options),
  ]);
  return { counts, states };
}

async function readCounts<P>(
  keys: ReadonlyMap<P, ReadonlySet<string>>,
  { read, parallelism }: SplitOptions<P>,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  await forEachOf(keys, parallelism, async ([part, names]) => {
    const found = await unlessAway(read(part, [...names]));
    for (const [key, count] of found ?? []) counts.set(key, count);
  });
  return counts;
}

/** Where counters stand; a look writes nothing under an algorithm. */
async function readStates<P>(
  looks: ReadonlyMap<P, ReadonlyMap<string, Increment>>,
  nowSeconds: number,
  { add, parallelism }: SplitOptions<P>,
): Promise<ReadonlyMap<string, CounterState>> {
  const states = new Map<string, CounterState>();
  await forEachOf(looks, parallelism, async ([part, byKey]) => {
    const increments = [...byKey.values()];
    const reply = await unlessAway(add(part, { increments, groupEnds: undefined, nowSeconds }));
    increments.forEach(({ key }, at) => {
      const state = reply?.states?.[at];
      if (state !== undefined) states.set(key, state);
    });
  });
  return states;
}

/** What cannot be read cannot be added to either, and fails then. */
async function unlessAway<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}

function listOf<P, L>(lists: Map<P, L>, part: P, create: () => L): L {
  const known = lists.get(part);
  if (known !== undefined) return known;
  const created = create();
  lists.set(part, created);
  return created;
}

const newSet = (): Set<string> => new Set();
const newMap = (): Map<string, Increment> => new Map();

/** Shares out what is not held back, in order; runs go along unless they have been decided on. */
function deal<P>(
  { increments, groupEnds }: CounterBatch,
  parts: readonly P[],
  { held }: ReplyDraft,
): ReadonlyMap<P, Share> {
  const shares = new Map<P, Share>();
  const isDecided = groupEnds === undefined || !areRunsWhole(groupEnds, parts);
  const shareOf = (part: P): Share => {
    const known = shares.get(part);
    if (known !== undefined) return known;
    const share = { increments: [], places: [], groupEnds: isDecided ? undefined : [] };
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
  for (const end of groupEnds) {
    const share = start === end ? undefined : shares.get(parts[start] as P);
    share?.groupEnds?.push((share.groupEnds.at(-1) ?? 0) + end - start);
    start = end;
  }
  return shares;
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
