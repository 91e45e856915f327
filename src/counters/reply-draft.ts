import { type CounterState } from '../core/algorithms/counter-state';
import { type StoreError } from '../core/errors';
import { type CounterReply } from '../core/ports';
import type { ReadState } from './hold-back';

/** A reply while it is being put together; every list runs parallel to the batch's increments. */
export interface ReplyDraft {
  readonly size: number;
  readonly after: number[];
  held: boolean[] | undefined;
  failures: Map<number, StoreError> | undefined;
  states: (CounterState | undefined)[] | undefined;
}

export function createReplyDraft(size: number, after: number[] = []): ReplyDraft {
  return { size, after, held: undefined, failures: undefined, states: undefined };
}

/** Notes that an increment was held back while its counter stood at `count`. */
export function holdBack(draft: ReplyDraft, index: number, count: number): void {
  draft.held ??= new Array<boolean>(draft.size).fill(false);
  draft.held[index] = true;
  draft.after[index] = count;
}

/** Notes that an increment was held back and what was seen of its counter. */
export function holdBackAt(draft: ReplyDraft, index: number, seen: ReadState): void {
  holdBack(draft, index, typeof seen === 'number' ? seen : 0);
  if (typeof seen === 'object') stand(draft, index, seen);
}

export function fail(draft: ReplyDraft, index: number, error: StoreError): void {
  draft.failures ??= new Map();
  draft.failures.set(index, error);
  draft.after[index] = 0;
}

/** Notes where the counter of an increment stood before its asks. */
export function stand(draft: ReplyDraft, index: number, state: CounterState): void {
  draft.states ??= new Array<CounterState | undefined>(draft.size).fill(undefined);
  draft.states[index] = state;
}

/** Takes over what a reply says of its increment `at`. */
export function takeOver(draft: ReplyDraft, index: number, reply: CounterReply, at: number): void {
  const failure = reply.failures?.get(at);
  if (failure !== undefined) {
    fail(draft, index, failure);
    return;
  }
  const state = reply.states?.[at];
  if (state !== undefined) stand(draft, index, state);
  if (reply.held?.[at] === true) holdBack(draft, index, reply.after[at] as number);
  else draft.after[index] = reply.after[at] as number;
}

/** The finished reply, in which everything may have failed. */
export function finish({ after, held, failures, states }: ReplyDraft): CounterReply {
  const reply = { after, held, failures };
  return states === undefined ? reply : { ...reply, states };
}

/** The finished reply; throws the first failure when nothing of the batch was applied. */
export function toReply(draft: ReplyDraft): CounterReply {
  const { failures, size } = draft;
  if (failures?.size === size) {
    for (const error of failures.values()) throw error;
  }
  return finish(draft);
}

/** The reply to increments that failed as a whole. */
export function failedReply({ length }: readonly unknown[], error: StoreError): CounterReply {
  const draft = createReplyDraft(length);
  for (let index = 0; index < length; index += 1) fail(draft, index, error);
  return draft;
}

/** The parts' replies as one; throws when nothing of any part was applied. */
export function joinReplies(parts: readonly CounterReply[]): CounterReply {
  const draft = createReplyDraft(parts.reduce((sum, { after }) => sum + after.length, 0));
  let start = 0;
  for (const part of parts) {
    const { length } = part.after;
    for (let at = 0; at < length; at += 1) takeOver(draft, start + at, part, at);
    start += length;
  }
  return toReply(draft);
}

/** The reply, unless nothing of the batch was applied: then its first failure is thrown. */
export function refuseIfNothing(reply: CounterReply): CounterReply {
  const { after, failures } = reply;
  if (failures === undefined || failures.size < after.length) return reply;
  for (const error of failures.values()) throw error;
  return reply;
}
