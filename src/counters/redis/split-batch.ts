import { type CounterBatch, type CounterReply } from '../../core/ports';
import { type StoreError } from '../../core/errors';
import { createReplyDraft, fail, holdBack, toReply } from '../reply-draft';

/** Cuts a batch into parts of at most `size` increments; a request's run stays in one piece. */
export function splitBatch(batch: CounterBatch, size: number): readonly CounterBatch[] {
  const { increments, runEnds, nowSeconds } = batch;
  if (increments.length <= size) return [batch];
  let run = 0;
  const takeRuns = (runs: readonly number[], start: number, end: number): readonly number[] => {
    const first = run;
    while (run < runs.length && (runs[run] as number) <= end) run += 1;
    return runs.slice(first, run).map((at) => at - start);
  };
  return partEnds(batch, size).map((end, part, ends) => {
    const start = ends[part - 1] ?? 0;
    return {
      increments: increments.slice(start, end),
      runEnds: runEnds && takeRuns(runEnds, start, end),
      nowSeconds,
    };
  });
}

function partEnds({ increments, runEnds }: CounterBatch, size: number): readonly number[] {
  const ends: number[] = [];
  if (runEnds === undefined) {
    for (let end = size; end < increments.length; end += size) ends.push(end);
  } else {
    let start = 0;
    let last = 0;
    for (const end of runEnds) {
      if (end - start > size && last > start) {
        ends.push(last);
        start = last;
      }
      last = end;
    }
  }
  ends.push(increments.length);
  return ends;
}

/** The reply of a part that failed as a whole. */
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
