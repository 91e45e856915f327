import { type Standing } from '../core/algorithms/standing';
import { type StoreError } from '../core/errors';
import { type CounterReply } from '../core/ports';

/** A reply while it is being put together; every list runs parallel to the batch's increments. */
export interface ReplyDraft {
  readonly size: number;
  readonly after: number[];
  held: boolean[] | undefined;
  failures: Map<number, StoreError> | undefined;
  /** See CounterReply. */
  standings?: (Standing | undefined)[] | undefined;
}

export function createReplyDraft(size: number, after: number[] = []): ReplyDraft {
  return { size, after, held: undefined, failures: undefined };
}

/** Notes that an increment was held back while its counter stood at `count`. */
export function holdBack(draft: ReplyDraft, index: number, count: number): void {
  draft.held ??= new Array<boolean>(draft.size).fill(false);
  draft.held[index] = true;
  draft.after[index] = count;
}

/** Notes where the counter of an algorithm stood before the asks of an increment. */
export function noteStanding(draft: ReplyDraft, index: number, standing: Standing): void {
  draft.standings ??= new Array<Standing | undefined>(draft.size).fill(undefined);
  draft.standings[index] = standing;
  draft.after[index] = 0;
}

export function fail(draft: ReplyDraft, index: number, error: StoreError): void {
  draft.failures ??= new Map();
  draft.failures.set(index, error);
  draft.after[index] = 0;
}

/** The finished reply; throws the first failure when nothing of the batch was applied. */
export function toReply(draft: ReplyDraft): CounterReply {
  const { after, held, failures, standings, size } = draft;
  if (failures?.size === size) {
    for (const error of failures.values()) throw error;
  }
  return standings === undefined ? { after, held, failures } : { after, held, failures, standings };
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
  for (const { after, held, failures } of parts) {
    after.forEach((count, at) => {
      const failure = failures?.get(at);
      if (failure !== undefined) fail(draft, start + at, failure);
      else if (held?.[at] === true) holdBack(draft, start + at, count);
      else draft.after[start + at] = count;
    });
    start += after.length;
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
