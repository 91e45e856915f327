import { getHeapStatistics } from 'node:v8';
import type { Settings } from '../../settings/settings';

/** Default bound of counters in memory, however large the heap is. */
const DEFAULT_BYTES = 512 * 2 ** 20;

/** The bounds of counters in memory for a process with this heap limit. */
export function memoryBounds(
  { maxKeys, maxBytes }: Settings['memory'],
  heapLimitBytes: number,
): { readonly maxKeys: number; readonly maxBytes: number } {
  return { maxKeys, maxBytes: maxBytes ?? Math.min(DEFAULT_BYTES, halfOf(heapLimitBytes)) };
}

/** A warning that V8 may end the process before the bound of its counters is reached; undefined: it cannot. */
export function memoryWarning(
  { maxBytes = 0 }: Settings['memory'],
  heapLimitBytes: number,
): string | undefined {
  const most = halfOf(heapLimitBytes);
  if (maxBytes <= most) return undefined;
  return `MEMORY_MAX_BYTES=${String(maxBytes)} is more than half of the heap limit, and the heap would be full first: expected at most ${String(most)}, or a larger --max-old-space-size in NODE_OPTIONS`;
}

/** The other half is for everything else, and for the garbage collector to work in. */
function halfOf(heapLimitBytes: number): number {
  return Math.floor(heapLimitBytes / 2);
}

/** Heap limit of this process in bytes; beyond, V8 ends it. */
export function readHeapLimit(): number {
  return getHeapStatistics().heap_size_limit;
}
