import { StoreError } from '../../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../../core/ports';
import { fail, type ReplyDraft } from '../../reply-draft';
import { type HostAndPort } from '../options';
import { type NodeCall } from '../node';
import { failedReply } from '../split-batch';
import { isClusterDoubtful, toRedirect, type Redirect } from './redirect';
import { type ClusterNode } from './cluster-nodes';

export interface FollowDeps {
  readonly memberAt: (place: HostAndPort) => ClusterNode;
  /** What is known of the slots is out of date. */
  readonly onStale: () => void;
  readonly monotonicMs: () => number;
}

/** Steps that an increment may take until it is where it belongs; more means that nodes disagree. */
const MAX_STEPS = 5;

interface RedirectedBatch {
  readonly member: ClusterNode;
  readonly asking: boolean;
  readonly places: number[];
}

/**
 * Asks a node to apply a batch, and follows its answers to where slots are now. Only increments that a
 * node has refused are sent on. Never rejects with a StoreError: failures are in the reply.
 */
export async function addFollowing(
  { memberAt, onStale, monotonicMs }: FollowDeps,
  member: ClusterNode,
  batch: CounterBatch,
  deadlineMs: number,
  how?: NodeCall,
): Promise<CounterReply> {
  const reply = await addSettled(member, batch, how);
  if (reply.failures === undefined) return reply;
  const draft: ReplyDraft = {
    size: reply.after.length,
    after: [...reply.after],
    held: reply.held === undefined ? undefined : [...reply.held],
    failures: new Map(reply.failures),
  };
  const askedAt = new Map<number, ClusterNode>();
  for (let step = 1; step <= MAX_STEPS && monotonicMs() < deadlineMs; step += 1) {
    const errands = planErrands(draft, (place) => askedAt.get(place) ?? member, memberAt, step);
    if (isAnyDoubtful(draft) || errands.length > 0) onStale();
    if (errands.length === 0) break;
    await Promise.all(
      errands.map(async (errand) => {
        await runErrand(errand, batch, draft, deadlineMs);
        for (const place of errand.places) askedAt.set(place, errand.member);
      }),
    );
  }
  const { after, held, failures } = draft;
  return { after, held, failures: failures?.size === 0 ? undefined : failures };
}

function planErrands(
  { failures = new Map<number, StoreError>() }: ReplyDraft,
  askedAt: (place: number) => ClusterNode,
  memberAt: (place: HostAndPort) => ClusterNode,
  step: number,
): readonly RedirectedBatch[] {
  const errands = new Map<string, RedirectedBatch>();
  for (const [place, error] of failures) {
    const asked = askedAt(place);
    const redirect = toRedirect(error, asked.host);
    if (redirect === undefined || (redirect.kind === 'withoutScripts' && step > 1)) continue;
    const member = redirect.kind === 'withoutScripts' ? asked : memberAt(redirect.to);
    addTo(errands, member, redirect, place);
  }
  return [...errands.values()];
}

function addTo(
  errands: Map<string, RedirectedBatch>,
  member: ClusterNode,
  { kind }: Redirect,
  place: number,
): void {
  const name = `${kind} ${member.node.store}`;
  const errand = errands.get(name) ?? { member, asking: kind === 'ask', places: [] };
  errand.places.push(place);
  errands.set(name, errand);
}

async function runErrand(
  { member, asking, places }: RedirectedBatch,
  { increments, nowSeconds }: CounterBatch,
  draft: ReplyDraft,
  deadlineMs: number,
): Promise<void> {
  const asked = {
    increments: places.map((place) => increments[place] as Increment),
    runEnds: undefined,
    nowSeconds,
  };
  const how = { withoutScripts: true, asking, deadlineMs };
  const { after, failures } = await addSettled(member, asked, how);
  places.forEach((place, at) => {
    const failure = failures?.get(at);
    if (failure !== undefined) {
      fail(draft, place, failure);
      return;
    }
    draft.failures?.delete(place);
    draft.after[place] = after[at] as number;
  });
}

async function addSettled(
  member: ClusterNode,
  batch: CounterBatch,
  how?: NodeCall,
): Promise<CounterReply> {
  try {
    return await member.add(batch, how);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return failedReply(batch.increments, error);
  }
}

function isAnyDoubtful({ failures }: ReplyDraft): boolean {
  for (const error of failures?.values() ?? []) if (isClusterDoubtful(error)) return true;
  return false;
}

/** Reads counters of a node; keys of slots that are elsewhere are read there. Rejects with a StoreError. */
export async function readFollowing(
  memberAt: (place: HostAndPort) => ClusterNode,
  member: ClusterNode,
  keys: readonly string[],
  deadlineMs: number,
): Promise<ReadonlyMap<string, number>> {
  const { counts, failures } = await member.read(keys, { deadlineMs });
  if (failures.size === 0) return counts;
  const found = new Map(counts);
  await Promise.all(
    [...failures].map(async ([key, error]) => {
      const redirect = toRedirect(error, member.host);
      if (redirect === undefined || redirect.kind === 'withoutScripts') return;
      const how = { deadlineMs, asking: redirect.kind === 'ask' };
      const there: ReadCounts = await memberAt(redirect.to).read([key], how);
      for (const [name, count] of there.counts) found.set(name, count);
    }),
  );
  return found;
}
