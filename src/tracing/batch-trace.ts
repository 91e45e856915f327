import type { Answer, BatchTrace, Question } from '../core/ports';
import type { SpanIds } from '../wire/otlp/span-ids';
import type { SpanQueue } from './span-queue';
import { writeCall, writeMatch, writeStoreBatch, type StoreBatch, type TracedCall } from './spans';

export interface BatchTraceDeps {
  readonly queue: SpanQueue;
  readonly childOf: (parent: SpanIds | undefined) => SpanIds;
  /** Unix milliseconds with fraction. */
  readonly epochMs: () => number;
  /** What the spans of store batches have in common. */
  readonly storeShape: Uint8Array;
}

/**
 * The spans of a batch: one for the match below each traced call, one for the store below the first of them, linked
 * to all; `first` is the index of the first question that is traced. They are written when the answers are given, until
 * then only times are noted.
 */
export function createBatchTrace(
  { queue, childOf, epochMs, storeShape }: BatchTraceDeps,
  questions: readonly Question[],
  first: number,
): BatchTrace {
  const requests = questions.length;
  const beganMs = epochMs();
  let matchedMs: number | undefined;
  let increments = 0;
  let store: StoreBatch | undefined;

  const answerCalls = (answers: readonly Answer[], endMs: number) => {
    for (let i = first; i < requests; i++) {
      const { request, trace } = questions[i] as Question;
      if (trace === undefined) continue;
      // Below the first the store's span is found without a link.
      const storeIds = i === first ? undefined : store?.ids;
      const writer = queue.next();
      // Every trace of a question is one that this tracer made.
      if (writer !== undefined)
        writeCall(writer, trace as TracedCall, endMs, answers[i] as Answer, request, storeIds);
    }
  };

  return {
    matched(count) {
      matchedMs = epochMs();
      increments = count;
    },
    counted(reply) {
      const { ids } = questions[first]?.trace as TracedCall;
      const startMs = matchedMs ?? beganMs;
      const endMs = epochMs();
      store = { ids: childOf(ids), startMs, endMs, requests, increments, reply };
    },
    answered(answers) {
      const endMs = epochMs();
      const calls = tracedFrom(questions, first);
      if (matchedMs !== undefined) {
        for (const { ids } of calls) {
          const writer = queue.next();
          if (writer === undefined) break;
          writeMatch(writer, childOf(ids), ids, beganMs, matchedMs, requests);
        }
      }
      const writer = store === undefined ? undefined : queue.next();
      if (store !== undefined && writer !== undefined)
        writeStoreBatch(writer, storeShape, store, calls);
      answerCalls(answers, endMs);
    },
  };
}

function tracedFrom(questions: readonly Question[], first: number): readonly TracedCall[] {
  const calls: TracedCall[] = [];
  for (let i = first; i < questions.length; i++) {
    const trace = questions[i]?.trace;
    if (trace !== undefined) calls.push(trace as TracedCall);
  }
  return calls;
}
