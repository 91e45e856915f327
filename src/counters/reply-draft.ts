import { type StoreError } from '../core/errors';
import { type CounterReply } from '../core/ports';

/** A reply while it is being put together; every list runs parallel to the batch's increments. */
export interface ReplyDraft {
  readonly size: number;
  readonly after: number[];
  held: boolean[] | undefined;
  failures: Map<number, StoreError> | undefined;
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

export function fail(draft: ReplyDraft, index: number, error: StoreError): void {
  draft.failures ??= new Map();
  draft.failures.set(index, error);
  draft.after[index] = 0;
}

/** The finished reply; throws the first failure when nothing of the batch was applied. */
export function toReply(draft: ReplyDraft): CounterReply {
  const { after, held, failures, size } = draft;
  if (failures?.size === size) {
    for (const error of failures.values()) throw error;
  }
  return { after, held, failures };
}
