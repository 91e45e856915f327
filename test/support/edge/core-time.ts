import { readFileSync } from 'node:fs';

/** A process of a test, as `spawn` and the servers of the tests name it. */
export interface Pid {
  readonly pid?: number | undefined;
}

/**
 * Starts a clock that answers the milliseconds since then, less those in which the main thread of this process or of one
 * of these was ready to run while others had the cores: a test measures the product, not the scheduler. The same goes for
 * what a hypervisor took, wherever that can be told apart: while our own thread never slept. Where the system does not tell
 * (Linux does), all of it counts.
 */
export function startStopwatch(...processes: readonly Pid[]): () => number {
  const own = followQueue({ pid: process.pid });
  const others = processes.map(followQueue);
  const readMs = (): number => {
    let queuedMs: number;
    let nowMs: number;
    // A wait for a core between the two would be taken from a time that it is no part of.
    do {
      queuedMs = own();
      nowMs = performance.now();
    } while (own() !== queuedMs);
    return others.reduce((leftMs, otherQueuedMs) => leftMs - otherQueuedMs(), nowMs - queuedMs);
  };
  const before = readOwnThread();
  const startedAtMs = readMs();
  return () => {
    const elapsedMs = readMs() - startedAtMs;
    const after = readOwnThread();
    const isAwake = before !== undefined && before.sleeps === after?.sleeps;
    return isAwake ? Math.min(elapsedMs, after.ranMs - before.ranMs) : elapsedMs;
  };
}

/** The main thread of this process. */
interface OwnThread {
  /** How long it had a core. */
  readonly ranMs: number;
  /** How often it gave the core up because it waited for something. */
  readonly sleeps: number;
}

function readOwnThread(): OwnThread | undefined {
  // Brings the times of this thread up to date; what the files say is up to 4 ms old.
  process.cpuUsage();
  const ran = readOfThread(process.pid, 'schedstat')?.split(' ')[0];
  const status = readOfThread(process.pid, 'status') ?? '';
  const sleeps = /^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1];
  if (ran === undefined || sleeps === undefined) return undefined;
  return { ranMs: Number(ran) / 1e6, sleeps: Number(sleeps) };
}

/** How long the main thread of this process had a core, in milliseconds; the time of day where nobody tells. */
export function readCoreMs(): number {
  return readOwnThread()?.ranMs ?? performance.now();
}

/** How long the main thread of a process waited for a core, since its start; what was last known once it has ended. */
function followQueue({ pid = 0 }: Pid): () => number {
  let queuedMs = 0;
  return () => (queuedMs = readQueuedMs(pid) ?? queuedMs);
}

/** The same at this moment; undefined where nobody tells. */
export function readQueuedMs(pid: number): number | undefined {
  const text = readOfThread(pid, 'schedstat');
  return text === undefined ? undefined : Number(text.split(' ')[1]) / 1e6;
}

/** A file of the system about the main thread of a process. */
function readOfThread(pid: number, file: 'schedstat' | 'status'): string | undefined {
  try {
    return readFileSync(`/proc/${String(pid)}/task/${String(pid)}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
