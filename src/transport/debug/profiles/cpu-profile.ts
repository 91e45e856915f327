import type { Profiler } from 'node:inspector';
import { forEach, type Steps } from '../../../core/steps';
import type { CallFrame, SampledProfile, StackSample } from './frames';

/** V8's name for idle time; Go's CPU profiles have no such row either. */
const IDLE = '(idle)';
/** V8's sampling interval, also the profile's period. */
export const CPU_INTERVAL_MICROSECONDS = 1_000;

/** Reads a CPU profile of the inspector. Times come from the distances between the samples. */
export function* readCpuProfile(
  profile: Profiler.Profile,
  takenAtMs: number,
): Steps<SampledProfile> {
  const { nodes, samples = [], timeDeltas = [], startTime, endTime } = profile;
  const measured = new Map<number, { count: number; microseconds: number }>();
  yield* forEach(samples.entries(), ([index, nodeId]) => {
    const sum = measured.get(nodeId) ?? { count: 0, microseconds: 0 };
    sum.count += 1;
    // V8 may report a sample before its predecessor.
    sum.microseconds += Math.max(0, timeDeltas[index] ?? 0);
    measured.set(nodeId, sum);
  });
  return {
    kinds: [
      { type: 'samples', unit: 'count' },
      { type: 'cpu', unit: 'nanoseconds' },
    ],
    samples: yield* toSamples(nodes, measured),
    period: CPU_INTERVAL_MICROSECONDS * 1_000,
    periodKind: { type: 'cpu', unit: 'nanoseconds' },
    durationMs: (endTime - startTime) / 1_000,
    takenAtMs,
  };
}

type Measured = ReadonlyMap<number, { readonly count: number; readonly microseconds: number }>;

function* toSamples(
  nodes: readonly Profiler.ProfileNode[],
  measured: Measured,
): Steps<readonly StackSample[]> {
  const byId = new Map<number, Profiler.ProfileNode>();
  const parents = new Map<number, number>();
  yield* forEach(nodes, (node) => {
    byId.set(node.id, node);
    for (const child of node.children ?? []) parents.set(child, node.id);
  });
  const stackOf = (nodeId: number): CallFrame[] => {
    const stack: CallFrame[] = [];
    for (let id: number | undefined = nodeId; id !== undefined; id = parents.get(id)) {
      const node = byId.get(id);
      // The root represents the thread; it has no parent and is not a function.
      if (node !== undefined && parents.has(id)) stack.push(node.callFrame);
    }
    return stack;
  };
  const samples: StackSample[] = [];
  for (const [nodeId, { count, microseconds }] of measured) {
    // A stack may have hundreds of functions.
    yield;
    if (byId.get(nodeId)?.callFrame.functionName === IDLE) continue;
    const stack = stackOf(nodeId);
    if (stack.length > 0) samples.push({ stack, values: [count, microseconds * 1_000] });
  }
  return samples;
}
