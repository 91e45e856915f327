import { StoreError } from '../../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../../core/ports';
import { isOverAt, planHoldBack, type ReadState } from '../../hold-back';
import { failedReply, holdBackAt, takeOver, type ReplyDraft } from '../../reply-draft';
import { readCounters, settleSplit, type SplitOptions } from '../../split';
import { type NodeCall } from '../node';
import { type ClusterNode } from './cluster-nodes';

/** Where the refused increments with these indexes are to be applied. */
export interface RedirectedBatch {
  readonly node: ClusterNode;
  readonly asking: boolean;
  readonly indexes: number[];
}

export interface SendDeps {
  /** The members of a request's run are not applied as one. */
  readonly onNotAtomic: () => void;
  readonly deadlineMs: number;
}

/**
 * Applies refused increments where their redirects say, with what is left of their runs, and takes over the answers. Where
 * a member of a run has answered already and is over its limit, those that are not over are held back.
 */
export async function sendRedirected(
  { onNotAtomic, deadlineMs }: SendDeps,
  redirected: readonly RedirectedBatch[],
  batch: CounterBatch,
  draft: ReplyDraft,
): Promise<void> {
  const targets = new Map<number, RedirectedBatch>();
  for (const target of redirected) for (const index of target.indexes) targets.set(index, target);
  const options: SplitOptions<RedirectedBatch> = {
    parallelism: 0,
    onNotAtomic,
    add: ({ node, asking }, part) =>
      addSettled(node, part, { withoutScripts: true, asking, deadlineMs }),
    read: async ({ node, asking }, keys) => (await node.read(keys, { deadlineMs, asking })).counts,
  };
  const targetOf = (index: number): RedirectedBatch => targets.get(index) as RedirectedBatch;
  const indexes = [...targets.keys()].sort((a, b) => a - b);
  const held = await holdBackRuns(batch, indexes, { targetOf, options, draft });
  const left = partOf(
    batch,
    indexes.filter((index) => !held.has(index)),
  );
  if (left.indexes.length === 0) return;
  const reply = await settleSplit(
    left.batch,
    (_, at) => targetOf(left.indexes[at] as number),
    options,
  );
  left.indexes.forEach((index, at) => {
    draft.failures?.delete(index);
    // The node that refused it may have planned to hold it back.
    if (draft.held !== undefined) draft.held[index] = false;
    takeOver(draft, index, reply, at);
  });
}

export async function addSettled(
  node: ClusterNode,
  batch: CounterBatch,
  how?: NodeCall,
): Promise<CounterReply> {
  try {
    return await node.add(batch, how);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return failedReply(batch.increments, error);
  }
}

interface Part {
  readonly batch: CounterBatch;
  /** Where its increments stand in the whole batch. */
  readonly indexes: readonly number[];
}

function partOf({ increments, nowSeconds }: CounterBatch, indexes: readonly number[]): Part {
  const own = indexes.map((index) => increments[index] as Increment);
  return { batch: { increments: own, groupEnds: undefined, nowSeconds }, indexes };
}

interface RedirectedRuns {
  /** Members of runs of which one that has answered is over its limit. */
  readonly behindOver: readonly number[];
  /** What is to be applied of each other run. */
  readonly others: readonly (readonly number[])[];
  /** A run has several members, of which some or all are sent on by plain commands. */
  readonly isAnyDivided: boolean;
}

function planRuns(
  { increments }: CounterBatch,
  groupEnds: readonly number[],
  indexes: readonly number[],
  draft: ReplyDraft,
): RedirectedRuns {
  const behindOver: number[] = [];
  const others: (readonly number[])[] = [];
  let isAnyDivided = false;
  let at = 0;
  let start = 0;
  for (const end of groupEnds) {
    const first = at;
    while (at < indexes.length && (indexes[at] as number) < end) at += 1;
    const members = indexes.slice(first, at);
    if (members.length > 0) {
      isAnyDivided ||= end - start > 1;
      if (isAnyOver(increments, draft, start, end)) behindOver.push(...members);
      else others.push(members);
    }
    start = end;
  }
  return { behindOver, others, isAnyDivided };
}

/** Whether one from `start` to `end` has answered and is over its limit, or was held back since another one is. */
function isAnyOver(
  increments: readonly Increment[],
  { after, held, failures, states }: ReplyDraft,
  start: number,
  end: number,
): boolean {
  for (let index = start; index < end; index += 1) {
    if (failures?.has(index) === true) continue;
    if (held?.[index] === true) return true;
    const increment = increments[index] as Increment;
    const { algorithm, hits } = increment;
    const before = (after[index] as number) - Number(hits);
    if (isOverAt(increment, algorithm === undefined ? before : states?.[index])) return true;
  }
  return false;
}

interface Holding {
  readonly targetOf: (index: number) => RedirectedBatch;
  readonly options: SplitOptions<RedirectedBatch>;
  readonly draft: ReplyDraft;
}

/** Decides, from counters that are read before, which of these increments are held back; returns them. */
async function holdBackRuns(
  batch: CounterBatch,
  indexes: readonly number[],
  { targetOf, options, draft }: Holding,
): Promise<ReadonlySet<number>> {
  const held = new Set<number>();
  const { groupEnds } = batch;
  if (groupEnds === undefined) return held;
  const runs = planRuns(batch, groupEnds, indexes, draft);
  if (!runs.isAnyDivided) return held;
  options.onNotAtomic();
  const part = partOf(batch, indexes);
  const read = await readCounters(part.batch, indexes.map(targetOf), options);
  const hold = (index: number, seen: ReadState): void => {
    // What cannot be read is added, and fails there.
    if (seen === undefined) return;
    draft.failures?.delete(index);
    holdBackAt(draft, index, seen);
    held.add(index);
  };
  for (const index of runs.behindOver) {
    const increment = batch.increments[index] as Increment;
    const { algorithm, key } = increment;
    const seen = algorithm === undefined ? read.counts.get(key) : read.states?.get(key);
    if (!isOverAt(increment, seen)) hold(index, seen);
  }
  let end = 0;
  const ends = runs.others.map(({ length }) => (end += length));
  const others = partOf(batch, runs.others.flat());
  for (const [at, seen] of planHoldBack({ ...others.batch, groupEnds: ends }, read)) {
    const index = others.indexes[at] as number;
    const { algorithm, key } = batch.increments[index] as Increment;
    hold(index, algorithm === undefined && !read.counts.has(key) ? undefined : seen);
  }
  return held;
}
