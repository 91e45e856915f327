import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { contentOf } from '../secrets';
import { isSiege } from './figure';
import type { Service } from './service';

export interface PoliteReport {
  readonly calls: number;
  /** The gRPC statuses other than OK that it got. */
  readonly failures: readonly string[];
  /**
   * Times of answers. Where the system tells (Linux), time in which the service or the client waited for a processor
   * that others held does not count.
   */
  readonly p99Ms: number;
  readonly worstMs: number;
  /** The same with all of it. */
  readonly rawP99Ms: number;
  readonly rawWorstMs: number;
}

/** A client that asks at a steady pace, whatever others do. */
export interface PoliteClient {
  /** Waits for the answers that are missing and closes the client. */
  stop(): Promise<PoliteReport>;
}

export interface PoliteTask {
  readonly servicePid: number;
  readonly address: string;
  readonly everyMs: number;
}

/** Threads of clients that have stopped, for the next. */
const idle: Worker[] = [];
afterAll(() => Promise.all(idle.map((thread) => thread.terminate())));

const startThread = () =>
  new Worker(join(__dirname, 'h2-polite-worker.ts'), {
    execArgv: ['--require', join(__dirname, '../typescript-hook.cjs')],
  });

/** In the siege, which judges times, it takes many; else it looks for calls that fail. */
const EVERY_MS = isSiege ? 5 : 20;

/** Settles with its first answer. It has a thread of its own: the attacker's work is no part of its times. */
export async function startPolite(
  { grpc: address, child: { pid: servicePid = 0 } }: Service,
  everyMs = EVERY_MS,
): Promise<PoliteClient> {
  const task: PoliteTask = { address, servicePid, everyMs };
  const worker = idle.pop() ?? startThread();
  const ready = once(worker, 'message');
  worker.postMessage(task);
  await ready;
  return {
    async stop() {
      const reported = once(worker, 'message') as Promise<[PoliteReport]>;
      worker.postMessage('stop');
      const [report] = await reported;
      idle.push(worker);
      return report;
    },
  };
}

/** The resident memory of a process; 0 once it has ended. */
export function residentMb(pid: number): number {
  const text = contentOf(`/proc/${String(pid)}/status`);
  return Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1] ?? 0) / 1024;
}
