import { setTimeout as delay } from 'node:timers/promises';
import { connectAttacker, repeat, wholeCall } from './h2-attacker';
import { residentMb, startPolite, type PoliteReport } from './h2-polite';
import { eventually } from './eventually';
import { isSiege } from './figure';
import { startService, type Service } from './service';
import { workersOf } from '../worker-processes';

/** What an attack did to those who did nothing. */
export interface Outcome extends PoliteReport {
  /** The most that the resident memory of the service, with its workers, grew meanwhile. */
  readonly grownMb: number;
}

/** After an attack, harm may come late. */
const AFTER_MS = 300;

/** A service with our engine that has served calls: what these allocate and compile is no growth. */
export async function startWarmService(): Promise<Service> {
  const service = await startService({ env: { GRPC_TRANSPORT: 'wire' } });
  await warmUp(service);
  return service;
}

/** Makes ten thousand calls in the siege, which judges times, else a thousand. */
export async function warmUp(service: Service): Promise<void> {
  for (let round = 0; round < (isSiege ? 10 : 1); round++) {
    const caller = await connectAttacker(service.grpc);
    await caller.send(repeat(1_000, wholeCall));
    await eventually(() => {
      if (!caller.seen().includes('headers#1999 end')) throw new Error('not all are answered');
    });
    caller.socket.destroy();
  }
}

/** Runs an attack beside a polite client and measures both sides. */
export async function besideAPoliteClient(
  service: Service,
  attack: () => Promise<void>,
  everyMs?: number,
): Promise<Outcome> {
  const pids = [service.child.pid ?? 0, ...workersOf(service)];
  const resident = () => pids.reduce((all, pid) => all + residentMb(pid), 0);
  const polite = await startPolite(service, everyMs);
  const before = resident();
  let most = before;
  const look = () => {
    most = Math.max(most, resident());
  };
  const watch = setInterval(look, 20);
  try {
    await attack();
    await delay(AFTER_MS);
    look();
  } finally {
    clearInterval(watch);
  }
  return { ...(await polite.stop()), grownMb: most - before };
}
