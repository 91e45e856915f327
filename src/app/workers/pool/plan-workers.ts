import type { Workers } from '../../../settings/workers';
import type { Machine } from './machine';

/** Memory of one worker, with its heap, its buffers and its share of the owner. */
const WORKER_BYTES = 160_000_000;
/** The owner's part of a memory limit. */
const OWNER_BYTES = 100_000_000;
/** Open files of the owner without any worker, and the additional ones per worker: channels, and connections in transit. */
const OWNER_FILES = 64;
const FILES_PER_WORKER = 8;

/** Resolves `auto`, and throws where the machine does not allow this number, with the number that it allows. */
export function planWorkers(asked: Workers, machine: Machine) {
  const count = asked === 'auto' ? autoCount(machine) : asked;
  const { openFiles = Infinity, memoryBytes } = machine;
  const most = Math.floor((openFiles - OWNER_FILES) / FILES_PER_WORKER);
  if (count > 1 && count > most) {
    throw new Error(
      `WORKERS=${String(count)}: expected at most ${String(Math.max(most, 1))}, because the process may open ${String(openFiles)} files; raise that limit (ulimit -n), or set fewer workers`,
    );
  }
  const heapBytes = memoryBytes === undefined ? undefined : (memoryBytes - OWNER_BYTES) / count;
  return {
    count,
    /** Per worker; undefined: Node's default. */
    heapMegabytes:
      heapBytes === undefined ? undefined : Math.max(Math.floor(heapBytes / 2 ** 20), 64),
  };
}

export type WorkersPlan = ReturnType<typeof planWorkers>;

/** The minimum of whole CPUs in the quota, CPUs to run on, and room in memory; 1 to 64. */
function autoCount({ cpus, cpuQuota = Infinity, memoryBytes = Infinity }: Machine): number {
  const most = Math.min(Math.floor(cpuQuota), cpus, Math.floor(memoryBytes / WORKER_BYTES), 64);
  return Math.max(most, 1);
}
