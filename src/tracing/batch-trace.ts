import { SpanKind, type Attributes, type Link, type SpanContext } from '@opentelemetry/api';
import { StoreError } from '../core/errors';
import type { BatchTrace, CounterReply, Question } from '../core/ports';
import type { SpanSink, TracedCall } from './span-sink';

/** OpenTelemetry's own limit (OTEL_SPAN_LINK_COUNT_LIMIT). */
const MAX_LINKS = 128;

interface TracedQuestion {
  readonly call: TracedCall;
  readonly index: number;
}

/**
 * The spans of a batch: one for the match below each traced call, one for the store below the first of them, linked
 * to all; `first` is the index of the first question that is traced.
 */
export function createBatchTrace(
  sink: SpanSink,
  questions: readonly Question[],
  first: number,
  store: Readonly<Record<string, string>>,
): BatchTrace {
  const traced: TracedQuestion[] = [];
  for (let index = first; index < questions.length; index++) {
    const trace = questions[index]?.trace;
    // Every trace of a question is one that this tracer made.
    if (trace !== undefined) traced.push({ call: trace as TracedCall, index });
  }
  const contexts = traced.map(({ call }) => call.context);
  let beganMs = sink.epochMs();
  let increments = 0;
  let storeSpan: SpanContext | undefined;

  return {
    matched(count) {
      const endMs = sink.epochMs();
      increments = count;
      for (const { call } of traced) {
        sink.record({
          name: 'match',
          kind: SpanKind.INTERNAL,
          context: sink.childOf(call.context),
          parent: call.context,
          startMs: beganMs,
          endMs,
          attributes: { 'ratelimit.batch.requests': questions.length },
        });
      }
      beganMs = endMs;
    },
    counted(reply) {
      storeSpan = sink.childOf(contexts[0]);
      sink.record({
        name: 'store batch',
        kind: 'db.system.name' in store ? SpanKind.CLIENT : SpanKind.INTERNAL,
        context: storeSpan,
        parent: contexts[0],
        startMs: beganMs,
        endMs: sink.epochMs(),
        attributes: { ...store, ...attributesOfReply(reply, questions.length, increments) },
        links: contexts.slice(0, MAX_LINKS).map((context): Link => ({ context })),
        droppedLinks: Math.max(0, contexts.length - MAX_LINKS),
        error: reply instanceof StoreError ? reply.message : undefined,
      });
    },
    answered(answers) {
      for (const { call, index } of traced) {
        const answer = answers[index];
        // Below the first the store's span is found without a link.
        const link = index === first ? undefined : storeSpan;
        if (answer !== undefined) sink.endCall(call, answer, questions[index]?.request, link);
      }
    },
  };
}

function attributesOfReply(
  reply: CounterReply | StoreError,
  requests: number,
  increments: number,
): Attributes {
  const attributes: Attributes = {
    'ratelimit.batch.requests': requests,
    'db.operation.batch.size': increments,
  };
  if (reply instanceof StoreError) attributes['error.type'] = reply.code;
  else if (reply.failures !== undefined) attributes['ratelimit.batch.failed'] = reply.failures.size;
  return attributes;
}
