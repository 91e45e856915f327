import type {
  BatchTracer,
  CallHeaders,
  CallKind,
  CallTracer,
  PendingRequest,
  Random,
} from '../core/ports';
import { createBatchTrace, type BatchTraceDeps } from './batch-trace';
import { isSampledByCaller, UNSAMPLED_PLACEHOLDER } from './is-sampled';
import { HEADER_NAMES } from './parent';
import { contextOf, traceIdOf, type ChildOf } from './span-context';
import { keptHeaders, toCallRecord, type TracedCall } from './span-records';

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
