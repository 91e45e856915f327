import type {
  BatchTracer,
  CallHeaders,
  CallKind,
  CallTracer,
  Question,
  Random,
} from '../core/ports';
import { createBatchTrace } from './batch-trace';
import { isSampledByCaller } from './is-sampled';
import { HEADER_NAMES, parentOf } from './parent';
import type { SpanSink, TracedCall } from './span-sink';

export interface TracerOptions {
  /** Share of the calls without a caller's decision that are traced. */
  readonly samplingRate: number;
  /** What the span of a store batch says of the store. */
  readonly store: Readonly<Record<string, string>>;
}

/** Decides which calls are traced, as their caller did or else by chance, and makes their spans. */
export function createTracer(
  { sink, random }: { readonly sink: SpanSink; readonly random: Random },
  { samplingRate, store }: TracerOptions,
): CallTracer & BatchTracer {
  // A connection that repeats its headers gives the same list again.
  let lastHeaders: CallHeaders | undefined;
  let lastDecision: boolean | undefined;

  const decide = (headers: CallHeaders): boolean | undefined => {
    if (headers !== lastHeaders) {
      lastDecision = isSampledByCaller(headers);
      lastHeaders = headers;
    }
    return lastDecision;
  };

  return {
    headerNames: HEADER_NAMES,
    start(kind, headers) {
      const isTraced = decide(headers) ?? random() < samplingRate;
      return isTraced ? toCall(sink, kind, headers) : undefined;
    },
    begin(questions) {
      const first = indexOfTraced(questions);
      return first < 0 ? undefined : createBatchTrace(sink, questions, first, store);
    },
  };
}

function indexOfTraced(questions: readonly Question[]): number {
  for (let i = 0; i < questions.length; i++) {
    if ((questions[i] as Question).trace !== undefined) return i;
  }
  return -1;
}

function toCall(sink: SpanSink, kind: CallKind, headers: CallHeaders): TracedCall {
  const parent = parentOf(headers);
  const call: TracedCall = {
    kind,
    parent,
    context: sink.childOf(parent),
    startMs: sink.epochMs(),
    refused(failure) {
      sink.endCall(call, failure, undefined, undefined);
    },
  };
  return call;
}
