import { getHeapStatistics } from 'node:v8';

/** Bytes to which the heap of this process may grow; beyond, V8 ends it. */
export function readHeapLimit(): number {
  return getHeapStatistics().heap_size_limit;
}
