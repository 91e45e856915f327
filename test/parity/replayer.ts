import { Client, credentials } from '@grpc/grpc-js';
import { BehaviorSubject, filter, firstValueFrom, tap } from 'rxjs';
import { createOutageLog } from '../../src/app/outage-log';
import { createApp } from '../../src/app/run-alone';
import type { App } from '../../src/app/compose/owner';
import type { Addresses } from '../../src/app/process/open-ports';
import type { CounterStore, CounterStoreDeps } from '../../src/app/store/store';
import { parseInProcess, createDirectorySource } from '../../src/rule-sources/directory-source';
import type { Explanation } from '../../src/core/explain/explanation';
import { compileInSlices } from '../../src/core/rules/compile';
import { type Settings, readSettings } from '../../src/settings/settings';
import { createRegistry, type Registry } from '../../src/stats/registry';
import { silentLogger } from '../support/silent-logger';
import { performStep, type Performed } from './perform-step';
import type { Replayable } from './replay';
import { writeRules } from './rule-folder';
import type { Scenario } from './scenario';
import { readCounters } from '../support/read-counters';

/** The service in the process of the test. */
export interface Replayer extends Replayable {
  readonly registry: Registry;
  readonly explain: NonNullable<Replayable['explain']>;
}

export interface StoreDeps extends CounterStoreDeps {
  readonly statistics: Registry;
}

export async function startReplay(
  scenario: Scenario,
  makeStore: (settings: Settings, deps: StoreDeps) => CounterStore,
  more: Readonly<Record<string, string>> = {},
): Promise<Replayer> {
  const rules = writeRules(scenario);
  const { root } = rules;

  // The monotonic clock stands still but for these: a call more would be one too many for its second.
  let passedMs = 0;
  const skipSecond = () => {
    passedMs += 1_000;
  };
  const monotonicMs = () => passedMs;
  let now = scenario.steps[0]?.at ?? 0;
  const clock = () => now;
  const registry = createRegistry();
  const settings = settingsOf(scenario, root, more);
  const random = () => 0.5;
  const deps = { clock, monotonicMs, random, logger: silentLogger, statistics: registry };
  const store = makeStore(settings, deps);
  const loads = new BehaviorSubject(0);
  const untilLoad: Performed['untilLoad'] = async (ask) => {
    for (;;) {
      const count = loads.value;
      const answer = await ask();
      if (answer !== undefined) return answer;
      await firstValueFrom(loads.pipe(filter((now) => now > count)));
    }
  };
  const app = createApp(settings, {
    registry,
    store,
    loads$: createDirectorySource(
      {
        root,
        subdirectory: '',
        appDirectory: 'config',
        ignoreDotFiles: false,
        mergeDomains: scenario.settings['MERGE_DOMAIN_CONFIG'] === 'true',
      },
      {
        parse: parseInProcess,
        compile: (domains) => compileInSlices(domains, 500, settings.decisions),
        clock,
        warn: () => undefined,
      },
    ).loads$.pipe(
      tap(() => {
        loads.next(loads.value + 1);
      }),
    ),
    clock,
    monotonicMs,
    random,
    logger: silentLogger,
    outages: createOutageLog({ logger: silentLogger, monotonicMs }),
  });
  const addresses = await app.listen();
  await untilLoad(async () => {
    const { ok } = await fetch(`http://${addresses.http}/healthcheck`);
    return ok || undefined;
  });
  // The service waits for its store a moment only.
  await firstValueFrom(store.connected$.pipe(filter(Boolean)));
  const running = { app, addresses, registry, rules, skipSecond, untilLoad };
  return createReplayer(running, (seconds) => {
    now = seconds;
  });
}

interface Running {
  readonly app: App;
  readonly addresses: Addresses;
  readonly registry: Registry;
  readonly rules: ReturnType<typeof writeRules>;
  readonly skipSecond: () => void;
  readonly untilLoad: Performed['untilLoad'];
}

function createReplayer(
  { app, addresses, registry, rules, skipSecond, untilLoad }: Running,
  setClock: (seconds: number) => void,
): Replayer {
  const client = new Client(addresses.grpc, credentials.createInsecure());
  const counted = () =>
    Promise.resolve(new Map([...readCounters(registry)].map(([name, { value }]) => [name, value])));
  const { http, debug } = addresses;
  const { directory } = rules;
  const service = { client: () => client, http, debug, directory, counted, untilLoad };
  return {
    registry,
    counted,
    setClock,
    // The clocks of the stores stand still.
    startClock: () => () => 0,
    perform: (step) => performStep(service, step),
    async explain({ request, http }) {
      const isAsked = http?.path === '/json' && http.method === 'POST';
      const body = request ?? (isAsked ? http.body : undefined);
      if (body === undefined) return undefined;
      skipSecond();
      const response = await fetch(`http://${addresses.debug}/api/v1/explain`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      return { status: response.status, body: (await response.json()) as Partial<Explanation> };
    },
    async close() {
      client.close();
      await app.stop();
      rules.remove();
    },
  };
}

/** The scenario's settings, and the addresses that are left to whoever replays. */
function settingsOf(
  { settings }: Scenario,
  root: string,
  more: Readonly<Record<string, string>>,
): Settings {
  const local = { HOST: '127.0.0.1', GRPC_HOST: '127.0.0.1', DEBUG_HOST: '127.0.0.1' };
  const ports = { PORT: '0', GRPC_PORT: '0', DEBUG_PORT: '0' };
  const read = readSettings({
    DISABLE_STATS: 'true',
    RUNTIME_ROOT: root,
    ...local,
    ...ports,
    ...settings,
    ...more,
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.settings;
}
