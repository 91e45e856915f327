import type { HeapProfiler } from 'node:inspector';
import type { Steps } from '../../../core/steps';
import type { CallFrame, SampledProfile, StackSample } from './frames';

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
    samples: yield* toSamples(head),
    period: HEAP_INTERVAL_BYTES,
    periodKind: { type: 'space', unit: 'bytes' },
    durationMs,
    takenAtMs,
  };
}

type HeapNode = HeapProfiler.SamplingHeapProfileNode;

function* toSamples(head: HeapNode): Steps<readonly StackSample[]> {
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
