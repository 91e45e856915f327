import { StoreError } from '../errors';
import type { Reading, State } from '../kinds/kind';
import type { CounterReply, CounterBatch, Increment } from '../ports';

/** A reply while it is being put together; every list runs parallel to the batch's increments. */
export interface ReplyDraft {
  readonly size: number;
  readonly after: number[];
  held: boolean[] | undefined;
  failures: Map<number, StoreError> | undefined;
  states: (State | undefined)[] | undefined;
  knownOverLimit: boolean[] | undefined;
}

/** The reply to an empty batch. */
export const EMPTY_REPLY: CounterReply = { after: [], held: undefined, failures: undefined };

export function createReplyDraft(size: number, after: number[] = []): ReplyDraft {
  const held = undefined;
  return { size, after, held, failures: undefined, states: undefined, knownOverLimit: undefined };
}

/** The part of a reply that concerns the increments from `start` to `end`. */
export function draftOf(reply: CounterReply, start: number, end: number): ReplyDraft {
  const draft = createReplyDraft(end - start);
  draft.held = reply.held?.slice(start, end);
  for (let at = start; at < end; at += 1) takeOver(draft, at - start, reply, at);
  return draft;
}

/** Notes that an increment was held back, and the reading of its counter. */
export function holdBackAt(draft: ReplyDraft, index: number, reading: Reading | undefined): void {
  (draft.held ??= falseFor(draft))[index] = true;
  setReading(draft, index, reading);
}

export function fail(draft: ReplyDraft, index: number, error: StoreError): void {
  draft.failures ??= new Map();
  draft.failures.set(index, error);
  draft.after[index] = 0;
}

/** Notes the reading of an increment's counter. */
export function setReading(draft: ReplyDraft, index: number, reading: Reading | undefined): void {
  draft.after[index] = typeof reading === 'number' ? reading : 0;
  if (typeof reading !== 'object') return;
  draft.states ??= new Array<State | undefined>(draft.size).fill(undefined);
  draft.states[index] = reading;
}

/** The reading of an increment's counter in a reply. */
export function readingAt(
  { after, states }: Pick<CounterReply, 'after' | 'states'>,
  at: number,
): Reading {
  return states?.[at] ?? (after[at] as number);
}

/** Replaces the draft's entry for an increment by entry `at` of a reply. */
function takeOver(draft: ReplyDraft, index: number, reply: CounterReply, at: number): void {
  forget(draft, index);
  const failure = reply.failures?.get(at);
  if (failure !== undefined) {
    fail(draft, index, failure);
    return;
  }
  setReading(draft, index, readingAt(reply, at));
  draft.after[index] = reply.after[at] as number;
  if (reply.held?.[at] === true) (draft.held ??= falseFor(draft))[index] = true;
  if (reply.knownOverLimit?.[at] === true) (draft.knownOverLimit ??= falseFor(draft))[index] = true;
}

function forget({ held, failures }: ReplyDraft, index: number): void {
  if (held !== undefined) held[index] = false;
  failures?.delete(index);
}

function falseFor({ size }: ReplyDraft): boolean[] {
  return new Array<boolean>(size).fill(false);
}

/** The finished reply, also where every increment failed. */
export function finish({
  after,
  held,
  failures,
  states,
  knownOverLimit,
}: ReplyDraft): CounterReply {
  const reply = { after, held, failures: failures?.size === 0 ? undefined : failures };
  const stated = states === undefined ? reply : { ...reply, states };
  return knownOverLimit === undefined ? stated : { ...stated, knownOverLimit };
}

/** The finished reply; throws the first failure when no increment was applied. */
export function toReply(draft: ReplyDraft): CounterReply {
  return refuseIfNothing(finish(draft));
}

/** The reply, unless no increment was applied: then its first failure is thrown. */
export function refuseIfNothing(reply: CounterReply): CounterReply {
  const { after, failures } = reply;
  if (failures !== undefined && failures.size >= after.length)
    for (const error of failures.values()) throw error;
  return reply;
}

/** The reply to increments that failed as a whole. */
export function failedReply({ length }: readonly unknown[], error: StoreError): CounterReply {
  const draft = createReplyDraft(length);
  for (let index = 0; index < length; index += 1) fail(draft, index, error);
  return draft;
}

/** Some increments of a batch, in its order; runs stay together. */
export interface SubBatch extends CounterBatch {
  /** The index of each increment in the whole batch. */
  readonly places: readonly number[];
}

type OfIncrement<T> = (increment: Increment, place: number) => T;

/** The increments that satisfy the predicate. */
export function pick(batch: CounterBatch, isWanted: OfIncrement<boolean>): SubBatch {
  return deal(batch, () => true, isWanted).get(true) ?? startOf(batch);
}

/** Groups the increments (all, or those that satisfy `isWanted`) by their part. */
export function deal<P>(
  batch: CounterBatch,
  partOf: OfIncrement<P>,
  isWanted?: OfIncrement<boolean>,
): ReadonlyMap<P, SubBatch> {
  const { increments, groupEnds } = batch;
  const drafts = new Map<P, Draft>();
  let run = 0;
  for (let place = 0; place < increments.length; place += 1) {
    const increment = increments[place] as Increment;
    if (isWanted?.(increment, place) === false) continue;
    const part = partOf(increment, place);
    let draft = drafts.get(part);
    if (draft === undefined) drafts.set(part, (draft = startOf(batch)));
    draft.increments.push(increment);
    draft.places.push(place);
    if (groupEnds === undefined) continue;
    while ((groupEnds[run] as number) <= place) run += 1;
    endRun(draft, run);
  }
  return drafts;
}

interface Draft extends SubBatch {
  readonly increments: Increment[];
  readonly places: number[];
  readonly groupEnds: number[] | undefined;
  /** The run of the whole batch to which the last of them belongs. */
  run: number;
}

function startOf({ groupEnds, nowSeconds }: CounterBatch): Draft {
  return { increments: [], groupEnds: groupEnds && [], nowSeconds, places: [], run: -1 };
}

function endRun(draft: Draft, run: number): void {
  if (draft.run === run) draft.groupEnds?.pop();
  draft.groupEnds?.push(draft.places.length);
  draft.run = run;
}

/** Writes the replies to increments, or their failures, at their indices in the whole batch. */
export function scatter(
  draft: ReplyDraft,
  places: readonly number[],
  reply: CounterReply | StoreError,
): void {
  for (let at = 0; at < places.length; at += 1) {
    const place = places[at] as number;
    if (reply instanceof StoreError) fail(draft, place, reply);
    else takeOver(draft, place, reply, at);
  }
}
