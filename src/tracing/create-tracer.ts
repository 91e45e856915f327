import type {
  BatchTracer,
  CallHeaders,
  CallKind,
  CallTracer,
  Question,
  Random,
} from '../core/ports';
import { createBatchTrace, type BatchTraceDeps } from './batch-trace';
import { isSampledByCaller, UNSAMPLED_STAND_IN } from './is-sampled';
import { HEADER_NAMES, parentOf } from './parent';
import { createSampler } from './sampler';
import { callShape, storeShape, writeCall, type CallShape, type TracedCall } from './spans';

export interface TracerOptions {
  /** Share of the calls without a caller's decision that are traced. */
  readonly samplingRate: number;
  /** What the span of a store batch says of the store. */
  readonly store: Readonly<Record<string, string>>;
}

export interface TracerDeps extends Omit<BatchTraceDeps, 'storeShape'> {
  readonly random: Random;
}

/** Decides which calls are traced, as their caller did or else by chance, and writes their spans. */
export function createTracer(
  { random, ...deps }: TracerDeps,
  { samplingRate, store }: TracerOptions,
): CallTracer & BatchTracer {
  const isChosen = createSampler(samplingRate, random);
  const batchDeps: BatchTraceDeps = { ...deps, storeShape: storeShape(store) };
  const shapes = new Map<CallKind, CallShape>();
  // A connection that repeats its headers gives the same list again.
  let lastHeaders: CallHeaders | undefined;
  let lastDecision: boolean | undefined;

  const shapeOf = (kind: CallKind): CallShape => {
    const known = shapes.get(kind);
    if (known !== undefined) return known;
    const shape = callShape(kind);
    shapes.set(kind, shape);
    return shape;
  };

  return {
    headerNames: HEADER_NAMES,
    standIn: UNSAMPLED_STAND_IN,
    start(kind, headers) {
      if (headers !== lastHeaders) {
        lastDecision = isSampledByCaller(headers);
        lastHeaders = headers;
      }
      const isTraced = lastDecision ?? isChosen();
      return isTraced ? toCall(deps, shapeOf(kind), headers) : undefined;
    },
    begin(questions) {
      const first = indexOfTraced(questions);
      return first < 0 ? undefined : createBatchTrace(batchDeps, questions, first);
    },
  };
}

function indexOfTraced(questions: readonly Question[]): number {
  for (let i = 0; i < questions.length; i++) {
    if ((questions[i] as Question).trace !== undefined) return i;
  }
  return -1;
}

function toCall(
  { queue, childOf, epochMs }: Omit<BatchTraceDeps, 'storeShape'>,
  shape: CallShape,
  headers: CallHeaders,
): TracedCall {
  const parent = parentOf(headers);
  const call: TracedCall = {
    shape,
    parent,
    ids: childOf(parent),
    startMs: epochMs(),
    refused(failure) {
      const writer = queue.next();
      if (writer !== undefined) writeCall(writer, call, epochMs(), failure, undefined, undefined);
    },
  };
  return call;
}
