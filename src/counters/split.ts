import type { Reading, State } from '../core/kinds/kind';
import {
  createReplyDraft,
  finish,
  holdBackAt,
  refuseIfNothing,
  setReading,
  type ReplyDraft,
  deal,
  scatter,
} from '../core/batches/reply-draft';
import { settled, StoreError } from '../core/errors';
import type { CounterBatch, CounterReply, Counters, Increment, CounterPlace } from '../core/ports';
import { planHoldBack, type ReadCounters, stateName } from './hold-back';
import { readOf, planRollBack, type Refusing } from './roll-back';
import { once } from './once';

/** Counters that can also be read without creating them. */
export interface ReadableCounters extends Counters {
  /** The counts of these keys; 0 for a missing key. A count that cannot be read is absent. */
  readonly read: (keys: readonly string[]) => Promise<ReadonlyMap<string, number>>;
}

/** How to use the parts over which counters are spread. */
export interface SplitOptions<P> {
  readonly add: (part: P, batch: CounterBatch) => Promise<CounterReply>;
  /** See `ReadableCounters`. */
  readonly read: (part: P, keys: readonly string[]) => Promise<ReadonlyMap<string, number>>;
  /** Parts that are called at the same time; 0: all. */
  readonly parallelism: number;
  /** A request's increments are in several parts: they are held back by a read and then an add. */
  readonly onNotAtomic: () => void;
}

/**
 * Applies a non-empty batch to the parts that hold its counters, each with one call, and joins the replies. A part that fails,
 * fails its own increments; rejects when all failed.
 */
export async function addSplit<P>(
  batch: CounterBatch,
  partOf: (increment: Increment, at: number) => P,
  options: SplitOptions<P>,
): Promise<CounterReply> {
  return refuseIfNothing(await settleSplit(batch, partOf, options));
}

/** As `addSplit`; when all failed, each failure is in the reply. */
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
  let left = batch;
  let refusing: Refusing | undefined;
  const late = new Set<number>();
  if (batch.groupEnds !== undefined && !areRunsWhole(batch.groupEnds, parts)) {
    onNotAtomic();
    refusing = await planAcross(batch, parts, options, { draft, late });
    left = { ...batch, groupEnds: undefined };
  }
  const shares = deal(
    left,
    (_, place) => parts[place] as P,
    (_, place) => draft.held?.[place] !== true && !late.has(place),
  );
  await forEachOf(shares, parallelism, async ([part, share]) => {
    scatter(draft, share.places, await settled(() => add(part, share)));
  });
  if (refusing !== undefined) await rollBack(batch, parts, options, { draft, refusing });
  return finish(draft);
}

/** Other clients may come between the read of a request's counters and its hits: if one is then refused, the request is charged nowhere. */
async function rollBack<P>(
  batch: CounterBatch,
  parts: readonly P[],
  { add, parallelism }: SplitOptions<P>,
  done: { readonly draft: ReplyDraft; readonly refusing: Refusing },
): Promise<void> {
  const taken = planRollBack(batch, done.draft, done.refusing);
  if (taken.length === 0) return;
  const { nowSeconds } = batch;
  const increments = taken.map(({ increment }) => increment);
  const shares = deal(
    { increments, groupEnds: undefined, nowSeconds },
    (_, at) => parts[taken[at]?.index ?? 0] as P,
  );
  // A charge that cannot be undone stays: one refusal too many.
  await forEachOf(shares, parallelism, async ([part, share]) => {
    await settled(() => add(part, share));
  });
}

function areRunsWhole(groupEnds: readonly number[], parts: readonly unknown[]): boolean {
  let start = 0;
  for (const end of groupEnds) {
    for (let at = start + 1; at < end; at += 1) if (parts[at] !== parts[start]) return false;
    start = end;
  }
  return true;
}

/** Decides for the whole batch what is held back, from counters that were read first; returns what refuses, and for which increment. */
async function planAcross<P>(
  batch: CounterBatch,
  parts: readonly P[],
  options: SplitOptions<P>,
  { draft, late }: { readonly draft: ReplyDraft; readonly late: Set<number> },
): Promise<Refusing> {
  const read = await readCounters(batch, parts, options);
  const refusing = new Map<number, Reading>();
  const onLate = (index: number, reading: Reading): void => {
    late.add(index);
    setReading(draft, index, reading);
  };
  const held = planHoldBack(batch, read, (index, reading) => refusing.set(index, reading), onLate);
  for (const [index, reading] of held) holdBackAt(draft, index, reading);
  return refusing;
}

/** The current counters of a batch, each read from the part of its increment. */
export async function readCounters<P>(
  batch: CounterBatch,
  parts: readonly P[],
  options: SplitOptions<P>,
): Promise<ReadCounters> {
  const keys = new Map<P, Set<string>>();
  const reads = new Map<P, Map<string, Increment>>();
  parts.forEach((part, at) => {
    const increment = batch.increments[at] as Increment;
    if (increment.limiter.kind.readsFirst)
      listOf(reads, part, newMap).set(stateName(increment), readOf(increment));
    else listOf(keys, part, newSet).add(increment.key);
  });
  const [counts, states] = await Promise.all([
    readCounts(keys, options),
    readStates(reads, batch.nowSeconds, options),
  ]);
  return { counts, states };
}

/** A counter that cannot be read cannot be added to either, and fails then. */
async function readCounts<P>(
  keys: ReadonlyMap<P, ReadonlySet<string>>,
  { read, parallelism }: SplitOptions<P>,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  await forEachOf(keys, parallelism, async ([part, names]) => {
    const found = await settled(() => read(part, [...names]));
    if (found instanceof StoreError) return;
    for (const [key, count] of found) counts.set(key, count);
  });
  return counts;
}

/** The states of kinds whose read writes nothing. */
async function readStates<P>(
  reads: ReadonlyMap<P, ReadonlyMap<string, Increment>>,
  nowSeconds: number,
  { add, parallelism }: SplitOptions<P>,
): Promise<ReadonlyMap<string, State>> {
  const states = new Map<string, State>();
  await forEachOf(reads, parallelism, async ([part, byName]) => {
    const [names, increments] = [[...byName.keys()], [...byName.values()]];
    const asked = { increments, groupEnds: undefined, nowSeconds };
    const reply = await settled(() => add(part, asked));
    if (reply instanceof StoreError) return;
    names.forEach((name, at) => {
      const state = reply.states?.[at];
      if (state !== undefined) states.set(name, state);
    });
  });
  return states;
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

/** Runs a task for every item, `parallelism` at the same time; 0: all. */
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

export function isPerSecond({ rule }: Pick<CounterPlace, 'rule'>): boolean {
  return rule.isPerSecond;
}

/** One of two stores. */
interface SplitStore {
  readonly counters: Counters;
  /** See `ReadableCounters`. */
  readonly read: ReadableCounters['read'];
}

export interface PerSecondSplitDeps {
  readonly perSecond: SplitStore;
  readonly others: SplitStore;
  /** Called once, when a group uses both stores: it is then held back by a read followed by an add. */
  readonly onNotAtomic: () => void;
}

/**
 * Counters in two stores. If one is unreachable, only its own increments fail; a batch whose increments are all in one store does
 * not use the other.
 */
export function createPerSecondSplit(deps: PerSecondSplitDeps): Counters {
  const { perSecond, others, onNotAtomic } = deps;
  const options: SplitOptions<SplitStore> = {
    add: ({ counters }, batch) => counters.add(batch),
    read: (store, keys) => store.read(keys),
    parallelism: 0,
    onNotAtomic: once(onNotAtomic),
  };
  return {
    async add(batch) {
      if (batch.increments.length === 0) return others.counters.add(batch);
      return addSplit(batch, (one) => (isPerSecond(one) ? perSecond : others), options);
    },
    async close() {
      await Promise.all([perSecond.counters.close(), others.counters.close()]);
    },
  };
}
