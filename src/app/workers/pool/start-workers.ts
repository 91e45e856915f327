import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { listenAt } from '../../../platform/listen-address';
import type { Settings } from '../../../settings/settings';
import { removeStaleSocket } from '../../../transport/grpc/socket-server';
import { createFork } from './fork';
import { readMachine } from './machine';
import { planWorkers, type WorkersPlan } from './plan-workers';
import type { Fork } from './slot';

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
