import type { HeapProfiler } from 'node:inspector';
import type { CallFrame, SampledProfile, StackSample } from './frames';

/** One allocation in about so many bytes is looked at: finer than V8's 512 KiB, for short looks. */
export const HEAP_INTERVAL_BYTES = 64 * 1024;

/** Reads a sampling heap profile of the inspector: what was allocated while it ran and is still alive. */
export function readHeapProfile(
  { head }: HeapProfiler.SamplingHeapProfile,
  durationMs: number,
  takenAtMs: number,
): SampledProfile {
  return {
    kinds: [{ type: 'inuse_space', unit: 'bytes' }],
    samples: toSamples(head),
    period: HEAP_INTERVAL_BYTES,
    periodKind: { type: 'space', unit: 'bytes' },
    durationMs,
    takenAtMs,
  };
}

function toSamples(head: HeapProfiler.SamplingHeapProfileNode): StackSample[] {
  const samples: StackSample[] = [];
  const visit = (node: HeapProfiler.SamplingHeapProfileNode, stack: readonly CallFrame[]): void => {
    if (node.selfSize > 0 && stack.length > 0) samples.push({ stack, values: [node.selfSize] });
    for (const child of node.children) visit(child, [child.callFrame, ...stack]);
  };
  visit(head, []);
  return samples;
}
