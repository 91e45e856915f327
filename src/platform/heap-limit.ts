import { getHeapStatistics } from 'node:v8';

/** Heap limit of this process in bytes; beyond, V8 ends it. */
export function readHeapLimit(): number {
  return getHeapStatistics().heap_size_limit;
}
