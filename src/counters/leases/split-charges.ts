import type { CounterBatch, Increment, CounterReply } from '../../core/ports';
import {
  createReplyDraft,
  finish,
  type ReplyDraft,
  pick,
  type SubBatch,
  scatter,
} from '../../core/batches/reply-draft';
import type { HitLease, LeaseCounts } from './hit-lease';
import type { Leases } from './leases';
import { toIncrement, type OwnOperation } from './own-operations';
import { StoreError } from '../../core/errors';

/** A charge to a leased counter that goes to the store, whole or the rest that its lease did not cover. */
export interface RestCharge {
  /** Its index in the batch. */
  readonly place: number;
  readonly lease: HitLease;
  /** Its own limit: a reload may change the lease's before the store answers. */
  readonly limit: number;
  /** Its hits that the lease covered. */
  readonly spent: number;
  /** Its hits that go to the store. */
  readonly rest: number;
}

/** Spends leased hits on a batch. */
export function splitCharges(
  { increments }: CounterBatch,
  leases: Leases,
  nowMs: number,
): SplitCharges {
  const draft = new SplitCharges();
  for (let place = 0; place < increments.length; place += 1) {
    const increment = increments[place] as Increment;
    const counter = leases.find(increment, nowMs);
    if (counter === undefined) continue;
    const lease = leases.leaseOf(counter, increment, nowMs);
    draft.addOwn(leases.takeReturn(lease, increment));
    const hits = increment.hits as number;
    const spent = hits < 0 ? -lease.takeBack(-hits) : lease.spend(hits);
    if (hits > 0) draft.addOwn(leases.nextRefill(counter, lease, nowMs));
    const isAnswered = hits === 0 ? lease.unspent > 0 : spent === hits;
    if (isAnswered) draft.answer(place, lease, increments.length);
    else draft.rests.push({ place, lease, limit: increment.limit, spent, rest: hits - spent });
    if (isAnswered && hits > 0) leases.counts.spent += hits;
  }
  return draft;
}

/** The part of a batch that is decided without the store. */
export class SplitCharges {
  /** Counters after the increments that a lease answers; parallel to the batch. */
  readonly after: number[] = [];
  /** Which those are; undefined: none. */
  leased: boolean[] | undefined;
  /** Their number. */
  answered = 0;
  /** Increments for the store whose counters are leased; in order. */
  readonly rests: RestCharge[] = [];
  /** The leases' own operations. */
  readonly own: OwnOperation[] = [];

  answer(place: number, lease: HitLease, size: number): void {
    this.after[place] = lease.after;
    (this.leased ??= new Array<boolean>(size).fill(false))[place] = true;
    this.answered += 1;
  }

  addOwn(own: OwnOperation | undefined): void {
    if (own !== undefined) this.own.push(own);
  }
}

/** The part of a batch for the store: what no lease answers, then the leases' own operations. */
export function toSend(batch: CounterBatch, { leased, rests }: SplitCharges): SubBatch {
  let { increments } = batch;
  if (rests.some(({ spent }) => spent !== 0)) {
    const changed = [...increments];
    for (const { place, rest } of rests)
      changed[place] = { ...(changed[place] as Increment), hits: rest };
    increments = changed;
  }
  return pick({ ...batch, increments }, (_, place) => leased?.[place] !== true);
}

/** The part, and then the leases' own operations, each a run of its own. */
export function withOwn(part: CounterBatch, own: readonly OwnOperation[]): CounterBatch {
  const { increments, groupEnds, nowSeconds } = part;
  const ends = groupEnds && [...groupEnds, ...own.map((_, at) => increments.length + at + 1)];
  return { increments: [...increments, ...own.map(toIncrement)], groupEnds: ends, nowSeconds };
}

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
