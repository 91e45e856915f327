import type { Profiler, HeapProfiler } from 'node:inspector';
import { forEach, type Steps } from '../../../core/steps';

/** A function on a stack, as V8's profilers name it. Lines count from 0. */
export interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

interface StackSample {
  /** The innermost function first. */
  readonly stack: readonly CallFrame[];
  /** One number for each kind of value of the profile. */
  readonly values: readonly number[];
}

/** A kind of value: `cpu` in `nanoseconds`. */
export interface ValueKind {
  readonly type: string;
  readonly unit: string;
}

/** A profile as plain data, before it is encoded. */
export interface SampledProfile {
  readonly kinds: readonly ValueKind[];
  readonly samples: readonly StackSample[];
  /** One sample per this many units of this kind. */
  readonly period: number;
  readonly periodKind: ValueKind;
  readonly durationMs: number;
  /** When it was taken, Unix milliseconds. */
  readonly takenAtMs: number;
}

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
    samples: yield* toCpuSamples(nodes, measured),
    period: CPU_INTERVAL_MICROSECONDS * 1_000,
    periodKind: { type: 'cpu', unit: 'nanoseconds' },
    durationMs: (endTime - startTime) / 1_000,
    takenAtMs,
  };
}

type Measured = ReadonlyMap<number, { readonly count: number; readonly microseconds: number }>;

function* toCpuSamples(
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

/** About one sample per this many allocated bytes: finer than V8's 512 KiB, for short profiles. */
export const HEAP_INTERVAL_BYTES = 64 * 1024;

/** Reads a sampling heap profile of the inspector: objects that were allocated while it ran and are still alive. */
export function* readHeapProfile(
  { head }: HeapProfiler.SamplingHeapProfile,
  durationMs: number,
  takenAtMs: number,
): Steps<SampledProfile> {
  return {
    kinds: [{ type: 'inuse_space', unit: 'bytes' }],
    samples: yield* toHeapSamples(head),
    period: HEAP_INTERVAL_BYTES,
    periodKind: { type: 'space', unit: 'bytes' },
    durationMs,
    takenAtMs,
  };
}

type HeapNode = HeapProfiler.SamplingHeapProfileNode;

function* toHeapSamples(head: HeapNode): Steps<readonly StackSample[]> {
  const samples: StackSample[] = [];
  const open: { readonly node: HeapNode; readonly stack: readonly CallFrame[] }[] = [
    { node: head, stack: [] },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, stack } = next;
    if (node.selfSize > 0 && stack.length > 0) samples.push({ stack, values: [node.selfSize] });
    for (const child of node.children)
      open.push({ node: child, stack: [child.callFrame, ...stack] });
    yield;
  }
  return samples;
}
