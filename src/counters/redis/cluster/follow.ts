import { StoreError } from '../../../core/errors';
import { type CounterBatch, type CounterReply, type Increment } from '../../../core/ports';
import { fail, type ReplyDraft } from '../../reply-draft';
import { type HostAndPort } from '../address';
import { type NodeCall } from '../node';
import { failedReply } from '../split-batch';
import { isClusterDoubtful, toRedirect, type Redirect } from './redirect';
import { type Member } from './members';

export interface FollowDeps {
  readonly memberAt: (place: HostAndPort) => Member;
  /** What is known of the slots is out of date. */
  readonly onStale: () => void;
  readonly monotonicMs: () => number;
}

/** Steps that an increment may take until it is where it belongs; more means that nodes disagree. */
const MAX_STEPS = 5;

interface Errand {
  readonly member: Member;
  readonly asking: boolean;
  readonly places: number[];
}

/**
 * Asks a node to apply a batch, and follows its answers to where slots are now. Only increments that a
 * node has refused are sent on. Never rejects with a StoreError: failures are in the reply.
 */
export async function addFollowing(
  { memberAt, onStale, monotonicMs }: FollowDeps,
  member: Member,
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
  const askedAt = new Map<number, Member>();
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
  askedAt: (place: number) => Member,
  memberAt: (place: HostAndPort) => Member,
  step: number,
): readonly Errand[] {
  const errands = new Map<string, Errand>();
  for (const [place, error] of failures) {
    const asked = askedAt(place);
    const redirect = toRedirect(error, asked.host);
    if (redirect === undefined || (redirect.kind === 'plainly' && step > 1)) continue;
    const member = redirect.kind === 'plainly' ? asked : memberAt(redirect.to);
    addTo(errands, member, redirect, place);
  }
  return [...errands.values()];
}

function addTo(
  errands: Map<string, Errand>,
  member: Member,
  { kind }: Redirect,
  place: number,
): void {
  const name = `${kind} ${member.node.store}`;
  const errand = errands.get(name) ?? { member, asking: kind === 'ask', places: [] };
  errand.places.push(place);
  errands.set(name, errand);
}

async function runErrand(
  { member, asking, places }: Errand,
  { increments, nowSeconds }: CounterBatch,
  draft: ReplyDraft,
  deadlineMs: number,
): Promise<void> {
  const asked = {
    increments: places.map((place) => increments[place] as Increment),
    runEnds: undefined,
    nowSeconds,
  };
  const how = { plainly: true, asking, deadlineMs };
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
  member: Member,
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
