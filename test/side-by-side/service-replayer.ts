import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Client, credentials } from '@grpc/grpc-js';
import { readStatistics } from '../support/read-statistics';
import { eventually } from '../support/edge/eventually';
import { startService, type Service } from '../support/edge/service';
import { connectionsTo, workersOf } from '../support/worker-processes';
import { performStep } from '../parity/perform-step';
import type { Replayable } from '../parity/replay';
import { writeRules } from '../parity/rule-folder';
import type { Scenario } from '../parity/scenario';

const SET_CLOCK = join(__dirname, '../support/set-clock.cjs');
const WORKERS = 2;

/** The built service with two workers, which are asked by turns. */
export async function startServiceReplay(
  scenario: Scenario,
  more: Readonly<Record<string, string>>,
): Promise<Replayable> {
  const rules = writeRules(scenario);
  const clock = createClock(join(rules.root, 'clock'), scenario.steps[0]?.at ?? 0);
  const service = await startService({
    waitUntilUp: 'connected',
    env: {
      WORKERS: String(WORKERS),
      RUNTIME_ROOT: rules.root,
      NODE_OPTIONS: `--require ${SET_CLOCK}`,
      WEIR_TEST_CLOCK: clock.file,
      ...scenario.settings,
      ...more,
    },
  });
  const connections = await connect(service, connectionsFor(scenario));
  const counted = () => readStatistics(service);
  const [http, debug] = [service.http, service.debug].map((url) => new URL(url).host);
  const performed = {
    client: () => connections.next(),
    http: http ?? '',
    debug: debug ?? '',
    directory: rules.directory,
    counted,
    untilLoad,
  };
  return {
    counted,
    setClock: clock.set,
    startClock,
    perform: (step) => performStep(performed, step),
    async close() {
      connections.close();
      expect(await service.stop()).toBe(0);
      clock.close();
      rules.remove();
    },
  };
}

const untilLoad = <T>(ask: () => Promise<T | undefined>): Promise<T> =>
  eventually(async () => {
    const answer = await ask();
    if (answer === undefined) throw new Error('the rules were not loaded again');
    return answer;
  });

/** By the clock that went further: Redis lets time pass by the wall clock, which runs on where a machine sleeps, memcached by the monotonic one. */
function startClock(): () => number {
  const startMs = performance.now();
  const startUnixMs = Date.now();
  return () => Math.ceil(Math.max(performance.now() - startMs, Date.now() - startUnixMs) / 1_000);
}

/** Its sums are beyond 2^53, where doubles are rounded: what two workers add up is rounded otherwise than what one does. */
const ROUNDED = 'a big addend';

/** The local cache is of one worker by design: another one asks the store, and counts, where the recording refused. */
function connectionsFor({ name, settings }: Scenario): number {
  return 'LOCAL_CACHE_SIZE_IN_BYTES' in settings || name === ROUNDED ? 1 : WORKERS;
}

/** Connections that each are of another worker, and that calls take by turns. */
async function connect(service: Service, count: number) {
  const clients = Array.from(
    { length: count },
    () =>
      new Client(service.grpc, credentials.createInsecure(), {
        'grpc.use_local_subchannel_pool': 1,
      }),
  );
  await Promise.all(clients.map(isReady));
  const port = Number(service.grpc.split(':')[1]);
  const held = workersOf(service).map((pid) => connectionsTo(port, pid));
  expect(held.sort()).toEqual(count === 1 ? [0, 1] : [1, 1]);
  let turn = 0;
  return {
    next(): Client {
      turn = (turn + 1) % count;
      return clients[turn] as Client;
    },
    close() {
      for (const client of clients) client.close();
    },
  };
}

function isReady(client: Client): Promise<void> {
  return new Promise((resolve, reject) => {
    client.waitForReady(Date.now() + 10_000, (error) => {
      if (error === undefined) resolve();
      else reject(error);
    });
  });
}

/** The file that the clock of the service's processes reads. */
function createClock(file: string, seconds: number) {
  const descriptor = openSync(file, 'w');
  const bytes = Buffer.alloc(8);
  const set = (now: number): void => {
    bytes.writeDoubleLE(now);
    writeSync(descriptor, bytes, 0, bytes.length, 0);
  };
  set(seconds);
  return {
    file,
    set,
    close: () => {
      closeSync(descriptor);
    },
  };
}
