import { StoreError } from '../../../core/errors';
import type { CounterBatch, CounterReply } from '../../../core/ports';
import { draftOf, finish, type ReplyDraft } from '../../../core/batches/reply-draft';
import type { NodeCall } from '../node';
import type { ReadCounts } from '../pipeline';
import type { ClusterNode } from './cluster-nodes';
import { isClusterDoubtful, MAX_STEPS, toRedirect, type Redirect, sendFollowing } from './redirect';
import { addSettled, sendRedirected, type RedirectedBatch } from './send-redirected';
import type { HostAndPort } from '../options';
import { HalfDone, toHalfDoneError } from '../store-errors';

export interface RedirectDeps extends HalfDoneDeps {
  /** A request's increments are applied by several calls: they are held back by a read and then an add. */
  readonly onNotAtomic: () => void;
  readonly monotonicMs: () => number;
}

/**
 * Applies a batch on a node, and follows its redirects. Only increments that a node has refused are sent on. Never rejects with a
 * StoreError: failures are in the reply.
 */
export async function addFollowing(
  deps: RedirectDeps,
  node: ClusterNode,
  batch: CounterBatch,
  deadlineMs: number,
  how?: NodeCall,
): Promise<CounterReply> {
  const reply = await addSettled(node, batch, how);
  if (reply.failures === undefined) return reply;
  const { nodeAt, onStale, onNotAtomic, monotonicMs } = deps;
  const draft = draftOf(reply, 0, reply.after.length);
  const askedAt = new Map<number, ClusterNode>();
  const nodeOf = (index: number): ClusterNode => askedAt.get(index) ?? node;
  for (let step = 1; step <= MAX_STEPS && monotonicMs() < deadlineMs; step += 1) {
    const redirected = planRedirects(draft, nodeOf, nodeAt, step);
    if (isAnyDoubtful(draft) || redirected.length > 0) onStale();
    if (redirected.length === 0) break;
    await sendRedirected({ onNotAtomic, deadlineMs }, redirected, batch, draft);
    noteAsked(askedAt, redirected);
  }
  await finishHalfDone(deps, draft, nodeOf, deadlineMs);
  return finish(draft);
}

function noteAsked(
  askedAt: Map<number, ClusterNode>,
  redirected: readonly RedirectedBatch[],
): void {
  for (const { node, indexes } of redirected) for (const index of indexes) askedAt.set(index, node);
}

function planRedirects(
  { failures = new Map<number, StoreError>() }: ReplyDraft,
  askedAt: (index: number) => ClusterNode,
  nodeAt: RedirectDeps['nodeAt'],
  step: number,
): readonly RedirectedBatch[] {
  const redirected = new Map<string, RedirectedBatch>();
  for (const [index, error] of failures) {
    const asked = askedAt(index);
    const redirect = toRedirect(error, asked.host);
    if (redirect === undefined || (redirect.kind === 'without-scripts' && step > 1)) continue;
    const node = redirect.kind === 'without-scripts' ? asked : nodeAt(redirect.to);
    if (node !== undefined) addTo(redirected, node, redirect, index);
  }
  return [...redirected.values()];
}

function addTo(
  redirected: Map<string, RedirectedBatch>,
  node: ClusterNode,
  { kind }: Redirect,
  index: number,
): void {
  const name = `${kind} ${node.node.store}`;
  const batch = redirected.get(name) ?? { node, asking: kind === 'ask', indexes: [] };
  batch.indexes.push(index);
  redirected.set(name, batch);
}

function isAnyDoubtful({ failures }: ReplyDraft): boolean {
  for (const error of failures?.values() ?? []) if (isClusterDoubtful(error)) return true;
  return false;
}

export interface ClusterReading {
  /** See NodeCall. */
  readonly deadlineMs: number;
  readonly withLives?: boolean;
}

/** Reads counters of a node; keys of slots that are elsewhere are read there. Rejects with a StoreError. */
export async function readFollowing(
  nodeAt: RedirectDeps['nodeAt'],
  node: ClusterNode,
  keys: readonly string[],
  reading: ClusterReading,
): Promise<ReadCounts> {
  const read = await node.read(keys, reading);
  if (read.failures.size === 0) return read;
  const counts = new Map(read.counts);
  const livesMs = new Map(read.livesMs);
  const failures = new Map(read.failures);
  await Promise.all(
    [...read.failures].map(async ([key, error]) => {
      const redirect = toRedirect(error, node.host);
      if (redirect === undefined || redirect.kind === 'without-scripts') return;
      const how = { ...reading, asking: redirect.kind === 'ask' };
      const there = await nodeAt(redirect.to)?.read([key], how);
      if (there === undefined) return;
      if (there.failures.size === 0) failures.delete(key);
      for (const [name, count] of there.counts) counts.set(name, count);
      for (const [name, lifeMs] of there.livesMs) livesMs.set(name, lifeMs);
    }),
  );
  return { counts, livesMs, failures };
}

interface HalfDoneDeps {
  /** Undefined: there is no such node, or it may not be followed. */
  readonly nodeAt: (address: HostAndPort) => ClusterNode | undefined;
  /** An answer shows that the slot map has changed. */
  readonly onStale: () => void;
  /** Whether the hits of an increment stay counted is unknown. */
  readonly onUnknown: () => void;
}

/**
 * Completes increments whose slot moved between INCRBY and the command that must follow it. The increment is counted and is not
 * sent again.
 */
async function finishHalfDone(
  { nodeAt, onStale, onUnknown }: HalfDoneDeps,
  draft: ReplyDraft,
  askedAt: (index: number) => ClusterNode,
  deadlineMs: number,
): Promise<void> {
  const finishOne = async (index: number, error: HalfDone): Promise<void> => {
    const { count, left } = error.work;
    try {
      const redirect = toRedirect(error.redirect, askedAt(index).host);
      if (redirect === undefined || redirect.kind === 'without-scripts') throw error.redirect;
      const first = nodeAt(redirect.to);
      if (first === undefined) throw error.redirect;
      await sendFollowing(nodeAt, { first, asking: redirect.kind === 'ask' }, [left], deadlineMs);
      draft.failures?.delete(index);
      draft.after[index] = count;
    } catch (failure) {
      if (!(failure instanceof StoreError)) throw failure;
      draft.failures?.set(index, toHalfDoneError(error.redirect.store, failure.message));
      onUnknown();
    }
  };
  const finishing: Promise<void>[] = [];
  for (const [index, error] of draft.failures ?? [])
    if (error instanceof HalfDone) finishing.push(finishOne(index, error));
  if (finishing.length === 0) return;
  onStale();
  await Promise.all(finishing);
}
