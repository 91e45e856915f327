import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { listenAt } from '../../../platform/listen-address';
import type { Settings } from '../../../settings/settings';
import { removeStaleSocket } from '../../../transport/grpc/socket-server';
import { readMachine, planWorkers, type WorkersPlan } from './machine';
import type { Fork } from './slot';
import cluster, { type Worker } from 'node:cluster';
import { WORKER_VARIABLE, WORKERS_VARIABLE, type FromWorker } from '../messages';

/** Workers that load their modules while their owner does. */
export interface StartedWorkers {
  readonly plan: WorkersPlan;
  readonly fork: Fork;
}

/**
 * Starts the workers of the settings; undefined: this process decides by itself. Throws when the machine does not allow them. They
 * wait for their owner's message before they do anything, and end with it.
 */
export async function startWorkers(settings: Settings): Promise<StartedWorkers | undefined> {
  const plan = planFor(settings);
  if (plan === undefined) return undefined;
  await clearSocket(settings);
  return { plan, fork: createFork(plan) };
}

/** Undefined: this process decides by itself. */
function planFor({ workers }: Settings): WorkersPlan | undefined {
  const plan = planWorkers(workers, readMachine(readText, cpus().length));
  return plan.count === 1 ? undefined : plan;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** Removes the Unix socket of a process that was killed: the workers listen on one socket together, and do not check. */
async function clearSocket({ servers }: Settings): Promise<void> {
  const { unixSocket: path } = servers.grpc;
  if (path === undefined) return;
  const listen = () => removeStaleSocket({ path });
  await listenAt({ listen }, { host: 'GRPC_HOST', port: 'GRPC_PORT', path: 'GRPC_UDS' });
}

/**
 * Starts workers as processes of a cluster that run this same program. This process accepts all connections and hands each to the
 * next worker (docs/sizing.md explains why). The first process of each slot starts at once, before the owner has loaded its own
 * modules; it must be claimed in the same turn of the event loop, so that none of its messages is missed.
 */
function createFork({ count, heapMegabytes }: WorkersPlan): Fork {
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

/** A connection that the primary has accepted, as Node passes it around. */
interface Handle {
  close(): void;
}

/** Node's own message that hands a connection to a worker; the worker answers with `ack`. */
interface Handover {
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
}

type Send = (message: Handover, handle?: Handle, ...rest: readonly unknown[]) => boolean;

/**
 * Tracks connections on their way to a worker. Node's cluster closes its own copy of one when the worker has answered, and forgets
 * one whose worker died before that: its client would be connected to no process, and wait for ever. At most two are in transit at
 * a time, one for each port. Call the result once the worker has ended, with whether another listens on the same ports: it gets
 * them (nothing was read from them); otherwise they are closed, so that their clients reconnect.
 */
function followHandovers({ process }: Worker): (isAnotherListening: boolean) => void {
  const underWay = new Map<unknown, Handle>();
  // Handovers have no event and no public type: only Node's own messages contain the handle.
  const channel = process as unknown as { send: Send };
  const send = channel.send.bind(process);
  channel.send = (message, handle, ...rest) => {
    if (message.act === 'newconn' && handle !== undefined) underWay.set(message.seq, handle);
    return send(message, handle, ...rest);
  };
  process.on('internalMessage', ({ ack }: Handover) => {
    underWay.delete(ack);
  });
  return (isAnotherListening) => {
    for (const [seq, handle] of underWay) {
      // The message that the worker would have sent after closing its port: Node then offers the connection to the others.
      if (isAnotherListening)
        process.emit(
          'internalMessage',
          { cmd: 'NODE_CLUSTER', ack: seq, accepted: false },
          undefined,
        );
      else handle.close();
    }
    underWay.clear();
  };
}
