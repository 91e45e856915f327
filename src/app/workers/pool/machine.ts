import type { Workers } from '../../../settings/workers';

/** The largest limit of cgroup v1 means none: 2^63 less a page. */
const NO_MEMORY_LIMIT = 2 ** 60;

/**
 * Reads quotas from cgroup v2 and v1 (`os.availableParallelism()` ignores quotas on Node 20), the affinity mask and the limits of
 * the process from /proc. `read` returns the text of a file, undefined where it cannot be read; `hostCpus` replaces an unreadable
 * mask.
 */
export function readMachine(read: (path: string) => string | undefined, hostCpus: number) {
  const folders = cgroupFolders(read('/proc/self/cgroup') ?? '');
  return {
    /** CPUs that the scheduler may use for it. */
    cpus:
      countCpus(/^Cpus_allowed_list:\s*(\S+)/m.exec(read('/proc/self/status') ?? '')?.[1]) ??
      hostCpus,
    /** The CPU quota of its cgroups, possibly a fraction; undefined: no quota. */
    cpuQuota: least([
      ...folders.v2.map((folder) => quotaOf(read(`${folder}/cpu.max`))),
      ...folders.cpu.map((folder) =>
        quotaOf(
          `${read(`${folder}/cpu.cfs_quota_us`) ?? ''} ${read(`${folder}/cpu.cfs_period_us`) ?? ''}`,
        ),
      ),
    ]),
    /** The memory limit of its cgroups in bytes; undefined: no limit. */
    memoryBytes: least([
      ...folders.v2.map((folder) => bytesOf(read(`${folder}/memory.max`))),
      ...folders.memory.map((folder) => bytesOf(read(`${folder}/memory.limit_in_bytes`))),
    ]),
    /** Limit of open files; undefined: unknown or unlimited. */
    openFiles: positive(/^Max open files\s+(\d+)/m.exec(read('/proc/self/limits') ?? '')?.[1]),
  };
}

/** The resources of this process on the machine, or in the container. */
export type Machine = ReturnType<typeof readMachine>;

/**
 * The folders of applicable limits: that of the process and all above it; for v1, each controller has a tree of its own. A
 * container sees its own as the root.
 */
function cgroupFolders(text: string) {
  const pathOf = (isWanted: (controllers: readonly string[]) => boolean): string =>
    text
      .split('\n')
      .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
      .find((match) => match !== null && isWanted((match[1] ?? '').split(',')))?.[2] ?? '/';
  const root = '/sys/fs/cgroup';
  return {
    v2: upwards(
      root,
      pathOf(([first]) => first === ''),
    ),
    cpu: upwards(
      `${root}/cpu`,
      pathOf((controllers) => controllers.includes('cpu')),
    ),
    memory: upwards(
      `${root}/memory`,
      pathOf((controllers) => controllers.includes('memory')),
    ),
  };
}

function upwards(root: string, path: string): readonly string[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '..');
  return [root, ...names.map((_, i) => `${root}/${names.slice(0, i + 1).join('/')}`)];
}

/** `<microseconds> <period>`; `max` and -1 mean none. */
function quotaOf(text: string | undefined): number | undefined {
  const [quota, period] = (text ?? '').trim().split(/\s+/).map(Number);
  if (quota === undefined || period === undefined || !(quota > 0) || !(period > 0))
    return undefined;
  return quota / period;
}

function bytesOf(text: string | undefined): number | undefined {
  const bytes = positive(text?.trim());
  return bytes !== undefined && bytes < NO_MEMORY_LIMIT ? bytes : undefined;
}

function positive(text: string | undefined): number | undefined {
  const number = Number(text);
  return number > 0 && Number.isFinite(number) ? number : undefined;
}

/** The number of CPUs in a list such as `0-3,8`; undefined when it is invalid. */
function countCpus(list: string | undefined): number | undefined {
  if (list === undefined || !/^[\d,-]+$/.test(list)) return undefined;
  return list.split(',').reduce((count, range) => {
    const [from = 0, to = from] = range.split('-').map(Number);
    return count + to - from + 1;
  }, 0);
}

function least(limits: readonly (number | undefined)[]): number | undefined {
  const known = limits.filter((limit) => limit !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

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
