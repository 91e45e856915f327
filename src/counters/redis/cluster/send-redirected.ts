import {
  failedReply,
  holdBackAt,
  setReading,
  type ReplyDraft,
  pick,
  scatter,
  type SubBatch,
} from '../../../core/batches/reply-draft';
import { settled, StoreError } from '../../../core/errors';
import type { Reading } from '../../../core/kinds/kind';
import { type CounterBatch, type CounterReply, type Increment } from '../../../core/ports';
import { isEnding, isRefused, planHoldBack, findReading, wasRefused } from '../../hold-back';
import { readCounters, settleSplit, type SplitOptions } from '../../split';
import { type NodeCall } from '../node';
import { type ClusterNode } from './cluster-nodes';

/** Where to apply the refused increments with these indices. */
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
 * Applies refused increments where their redirects lead, with the rest of their runs, and takes over the answers. Where a member of
 * a run has already been answered as over its limit, those that are not over are held back.
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
  const refused = alone(batch, (index) => targets.has(index));
  const held = await holdBackRuns(batch, refused, { targetOf, options, draft });
  const left = alone(batch, (index) => targets.has(index) && !held.has(index));
  if (left.places.length === 0) return;
  const toTarget = (_: Increment, at: number) => targetOf(left.places[at] as number);
  scatter(draft, left.places, await settleSplit(left, toTarget, options));
}

export async function addSettled(
  node: ClusterNode,
  batch: CounterBatch,
  how?: NodeCall,
): Promise<CounterReply> {
  const reply = await settled(() => node.add(batch, how));
  return reply instanceof StoreError ? failedReply(batch.increments, reply) : reply;
}

/** Increments of a batch whose runs have been decided. */
function alone(batch: CounterBatch, isWanted: (index: number) => boolean): SubBatch {
  return pick({ ...batch, groupEnds: undefined }, (_, index) => isWanted(index));
}

function planRuns(
  { increments }: CounterBatch,
  groupEnds: readonly number[],
  indexes: readonly number[],
  draft: ReplyDraft,
) {
  /** Members of runs with an answered member that is over its limit. */
  const behindOver: number[] = [];
  /** A run has several members, some or all of which are sent on by plain commands. */
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
    }
    start = end;
  }
  return { behindOver, isAnyDivided };
}

/** Whether one from `start` to `end` was answered as over its limit, or held back because another one is. */
function isAnyOver(
  increments: readonly Increment[],
  draft: ReplyDraft,
  start: number,
  end: number,
): boolean {
  for (let index = start; index < end; index += 1) {
    if (draft.failures?.has(index) === true) continue;
    if (draft.held?.[index] === true) return true;
    const increment = increments[index] as Increment;
    if (increment.holdsBack !== false && wasRefused(increment, draft, index)) return true;
  }
  return false;
}

interface Holding {
  readonly targetOf: (index: number) => RedirectedBatch;
  readonly options: SplitOptions<RedirectedBatch>;
  readonly draft: ReplyDraft;
}

/** Decides, from counters that are read first, which of these increments are held back; returns them. */
async function holdBackRuns(
  batch: CounterBatch,
  refused: SubBatch,
  { targetOf, options, draft }: Holding,
): Promise<ReadonlySet<number>> {
  const held = new Set<number>();
  const { groupEnds } = batch;
  if (groupEnds === undefined) return held;
  const runs = planRuns(batch, groupEnds, refused.places, draft);
  if (!runs.isAnyDivided) return held;
  options.onNotAtomic();
  const read = await readCounters(refused, refused.places.map(targetOf), options);
  const hold = (index: number, reading: Reading | undefined): void => {
    // A counter that cannot be read is added, and fails there.
    if (reading === undefined) return;
    draft.failures?.delete(index);
    holdBackAt(draft, index, reading);
    held.add(index);
  };
  for (const index of runs.behindOver) {
    const increment = batch.increments[index] as Increment;
    const reading = findReading(read, increment);
    if (!isRefused(increment, reading) && !isEnding(increment)) hold(index, reading);
  }
  const left = new Set(refused.places);
  for (const index of runs.behindOver) left.delete(index);
  const others = pick(batch, (_, index) => left.has(index));
  const onLate = (at: number, reading: Reading): void => {
    const index = others.places[at] as number;
    draft.failures?.delete(index);
    setReading(draft, index, reading);
    held.add(index);
  };
  for (const [at, reading] of planHoldBack(others, read, undefined, onLate)) {
    const index = others.places[at] as number;
    if (findReading(read, batch.increments[index] as Increment) !== undefined) hold(index, reading);
  }
  return held;
}
