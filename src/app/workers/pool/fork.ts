import cluster, { type Worker } from 'node:cluster';
import { followHandovers } from './handovers';
import { WORKER_VARIABLE, WORKERS_VARIABLE, type FromWorker } from '../messages';
import type { WorkersPlan } from './plan-workers';
import type { Fork } from './slot';

/**
 * Starts workers as processes of a cluster that run this same program. This process accepts all connections and hands each to the
 * next worker (docs/workers.md explains why). The first process of each slot starts at once, before the owner has loaded its own
 * modules; it must be claimed in the same turn of the event loop, so that none of its messages is missed.
 */
export function createFork({ count, heapMegabytes }: WorkersPlan): Fork {
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].join(' ');
  const isSet = heapMegabytes === undefined || /max[-_]old[-_]space/.test(given);
  const heap = isSet ? [] : [`--max-old-space-size=${String(heapMegabytes)}`];
  cluster.setupPrimary({
    args: [],
    execArgv: [...process.execArgv, ...heap],
    serialization: 'advanced',
  });
  const start = (worker: number): Worker =>
    cluster.fork({ [WORKER_VARIABLE]: String(worker), [WORKERS_VARIABLE]: String(count) });
  const started = new Map<number, Worker>();
  for (let worker = 1; worker <= count; worker += 1) started.set(worker, start(worker));
  const listening = new Set<Worker>();
  return (worker, on) => {
    const child = started.get(worker) ?? start(worker);
    started.delete(worker);
    const passOn = followHandovers(child);
    child.on('message', (message: FromWorker) => {
      if (message.kind === 'listening') listening.add(child);
      on.message(message);
    });
    child.on('error', () => {
      // A process that could not be started emits no end of its own; that of another follows the error of its channel.
      if (child.process.pid === undefined) on.end({ code: null, signal: null });
    });
    child.once('exit', (code: number | null, signal: NodeJS.Signals | null) => {
      const end = (): void => {
        listening.delete(child);
        passOn(listening.size > 0);
        on.end({ code, signal });
      };
      // Its last messages, statistics among them, may still be unread.
      if (child.isConnected()) child.once('disconnect', end);
      else end();
    });
    return {
      send(message) {
        if (child.isConnected()) child.send(message, () => undefined);
      },
      kill(signal) {
        child.process.kill(signal);
      },
    };
  };
}
