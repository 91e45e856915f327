import type { BatchTrace, PendingRequest } from '../core/ports';
import {
  toCallRecord,
  toStoreRecord,
  type SpanRecord,
  type StoreRecord,
  type TracedCall,
} from './span-records';

export interface BatchTraceDeps {
  /** Queues the record of a span. */
  readonly add: (record: SpanRecord) => void;
  readonly monotonicMs: () => number;
}

/**
 * The spans of a batch: one for the match below each traced call, one for the store below the first of them, linked to all; `first`
 * is the index of the first traced request.
 */
export function createBatchTrace(
  { add, monotonicMs }: BatchTraceDeps,
  pendingRequests: readonly PendingRequest[],
  first: number,
): BatchTrace {
  const requests = pendingRequests.length;
  const beganMs = monotonicMs();
  let matchedMs = beganMs;
  let increments = 0;
  let calls: TracedCall[] | undefined;
  let store: StoreRecord | undefined;

  const callsOf = () => (calls ??= tracedFrom(pendingRequests, first));

  return {
    matched(count) {
      matchedMs = monotonicMs();
      increments = count;
      for (const call of callsOf())
        add({ span: 'match', call, startMs: beganMs, endMs: matchedMs, requests });
    },
    counted(reply) {
      const times = { startMs: matchedMs, endMs: monotonicMs() };
      const record = toStoreRecord(times, { requests, increments }, reply, callsOf());
      // All of it was leased: the store was not called.
      if (record.leased !== undefined && record.increments === 0) return;
      store = record;
      add(record);
    },
    answered(answers, leased) {
      const endMs = monotonicMs();
      for (let i = first; i < requests; i++) {
        const { request, trace } = pendingRequests[i] as PendingRequest;
        const answer = answers[i];
        if (trace === undefined || answer === undefined) continue;
        // The store's span is a child of the first call: that one needs no link.
        const linked = i === first ? undefined : store;
        // Only this tracer creates traces of requests.
        const answered = { request, leased: leased?.[i] ?? 0, store: linked };
        add(toCallRecord(trace as TracedCall, endMs, answer, answered));
      }
    },
  };
}

function tracedFrom(pendingRequests: readonly PendingRequest[], first: number): TracedCall[] {
  const calls: TracedCall[] = [];
  for (let i = first; i < pendingRequests.length; i++) {
    const trace = pendingRequests[i]?.trace;
    if (trace !== undefined) calls.push(trace as TracedCall);
  }
  return calls;
}
