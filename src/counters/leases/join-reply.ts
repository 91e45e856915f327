import { createReplyDraft, finish, type ReplyDraft } from '../../core/batches/reply-draft';
import { scatter, type SubBatch } from '../../core/batches/sub-batch';
import { StoreError } from '../../core/errors';
import type { CounterReply } from '../../core/ports';
import type { LeaseCounts } from './lease-counts';
import type { RestCharge, SplitCharges } from './split-charges';

/** Restores hits that were spent for a charge which the store did not answer. */
function putBack({ lease, spent }: RestCharge, counts: LeaseCounts): void {
  if (spent === 0) return;
  if (lease.end !== undefined) counts.stranded += Math.max(0, spent);
  else if (spent > 0) lease.takeBack(spent);
  else lease.spend(-spent);
}

/** The reply to a whole batch when a part of it was sent; throws where no increment has an answer. */
export function joinReply(
  split: SplitCharges,
  part: SubBatch,
  reply: CounterReply | StoreError,
  counts: LeaseCounts,
): CounterReply {
  const { after, leased, rests, answered } = split;
  if (reply instanceof StoreError && answered === 0) {
    for (const rest of rests) putBack(rest, counts);
    throw reply;
  }
  const size = part.increments.length + answered;
  const draft: ReplyDraft = createReplyDraft(size, after);
  scatter(draft, part.places, reply);
  for (const rest of rests) learn(rest, draft, counts);
  return leased === undefined ? finish(draft) : { ...finish(draft), leased };
}

/** Takes over the store's answer to the rest of a charge, for its counter and for the whole charge. */
function learn(rest: RestCharge, draft: ReplyDraft, counts: LeaseCounts): void {
  const { place, limit, spent } = rest;
  const count = learnCount(rest, draft);
  if (count === undefined) {
    putBack(rest, counts);
    return;
  }
  if (spent <= 0) return;
  counts.spent += spent;
  // Leased hits are within the limit, even if others have exceeded it since.
  draft.after[place] = Math.min(count, limit + rest.rest);
  if (draft.knownOverLimit !== undefined) draft.knownOverLimit[place] = false;
}

/** The store's count, which the lease notes; undefined: the store gave none. */
export function learnCount(
  { place, lease, limit, rest }: RestCharge,
  { after, failures, knownOverLimit }: CounterReply | ReplyDraft,
): number | undefined {
  if (failures?.has(place) === true) return undefined;
  const isOver = knownOverLimit?.[place] === true;
  const count = isOver ? limit + Math.max(rest, 0) : (after[place] as number);
  // That a counter is over its previous limit says little about the new one.
  const isNews = !isOver || limit >= lease.limit;
  if (lease.end === undefined && isNews) lease.learn(count);
  return count;
}
