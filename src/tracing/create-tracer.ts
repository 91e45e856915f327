import type {
  BatchTracer,
  CallHeaders,
  CallKind,
  CallTracer,
  PendingRequest,
  Random,
  BatchTrace,
} from '../core/ports';
import { isSampledByCaller, UNSAMPLED_PLACEHOLDER } from './is-sampled';
import { HEADER_NAMES } from './parent';
import {
  keptHeaders,
  toCallRecord,
  type TracedCall,
  contextOf,
  traceIdOf,
  type ChildOf,
  toStoreRecord,
  type SpanRecord,
  type StoreRecord,
} from './span-records';

export interface TracerOptions {
  /** Traced share of the calls without a client's decision. */
  readonly samplingRate: number;
}

export interface TracerDeps extends BatchTraceDeps {
  readonly childOf: ChildOf;
  readonly random: Random;
}

/** Decides which calls are traced, by their client's decision or else by chance, and records their spans. */
export function createTracer(
  { random, childOf, add, monotonicMs }: TracerDeps,
  { samplingRate }: TracerOptions,
): CallTracer & BatchTracer {
  const isChosen = createSampler(samplingRate, random);
  const deps = { add, monotonicMs, childOf };
  // A connection that repeats its headers passes the same list again.
  let lastHeaders: CallHeaders | undefined;
  let lastDecision: boolean | undefined;

  return {
    headerNames: HEADER_NAMES,
    placeholder: UNSAMPLED_PLACEHOLDER,
    start(kind, headers) {
      if (headers !== lastHeaders) {
        lastDecision = isSampledByCaller(headers);
        lastHeaders = headers;
      }
      const isTraced = lastDecision ?? isChosen();
      return isTraced ? toCall(deps, kind, headers) : undefined;
    },
    begin(pendingRequests) {
      const first = indexOfTraced(pendingRequests);
      return first < 0 ? undefined : createBatchTrace(deps, pendingRequests, first);
    },
  };
}

function indexOfTraced(pendingRequests: readonly PendingRequest[]): number {
  for (let i = 0; i < pendingRequests.length; i++) {
    if ((pendingRequests[i] as PendingRequest).trace !== undefined) return i;
  }
  return -1;
}

function toCall(
  { add, monotonicMs, childOf }: Omit<TracerDeps, 'random'>,
  kind: CallKind,
  headers: CallHeaders,
): TracedCall {
  const call: TracedCall = {
    kind,
    headers: keptHeaders(headers),
    startMs: monotonicMs(),
    context: undefined,
    refused(failure) {
      add(toCallRecord(call, monotonicMs(), failure));
    },
    traceId: () => traceIdOf(contextOf(call, childOf).ids),
  };
  return call;
}

/** Bernoulli sampler; the number of skips is drawn once (geometric distribution), so an unsampled call costs one comparison. */
export function createSampler(rate: number, random: Random): () => boolean {
  if (rate === 0) return () => false;
  if (rate === 1) return () => true;
  const scale = 1 / Math.log1p(-rate);
  const drawSkips = () => Math.floor(Math.log1p(-random()) * scale);
  let skips = drawSkips();
  return () => {
    if (skips > 0) {
      skips -= 1;
      return false;
    }
    skips = drawSkips();
    return true;
  };
}

interface BatchTraceDeps {
  /** Queues the record of a span. */
  readonly add: (record: SpanRecord) => void;
  readonly monotonicMs: () => number;
}

/**
 * The spans of a batch: one for the match below each traced call, one for the store below the first of them, linked to all; `first`
 * is the index of the first traced request.
 */
function createBatchTrace(
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
