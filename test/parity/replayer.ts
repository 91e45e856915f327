import { Client, credentials } from '@grpc/grpc-js';
import { filter, firstValueFrom } from 'rxjs';
import { createOutageLog } from '../../src/app/outage-log';
import { createApp } from '../../src/app/compose/create-app';
import type { App } from '../../src/app/compose/owner';
import type { Addresses } from '../../src/app/process/open-ports';
import { createLocalCache } from '../../src/app/store/local-cache';
import type { Counters } from '../../src/core/ports';
import type { CounterStore } from '../../src/app/store/store';
import { parseInProcess, createDirectorySource } from '../../src/rule-sources/directory-source';
import type { Explanation } from '../../src/core/explain/explanation';
import { compileInSlices } from '../../src/core/rules/compile';
import { readSettings } from '../../src/settings/read-settings';
import type { Settings } from '../../src/settings/settings';
import { createRegistry, type Registry } from '../../src/stats/registry';
import { eventually } from '../support/edge/eventually';
import { silentLogger } from '../support/silent-logger';
import { performStep } from './perform-step';
import type { Replayable } from './replay';
import { writeRules } from './rule-folder';
import type { Scenario } from './scenario';

/** The service in the process of the test. */
export interface Replayer extends Replayable {
  readonly registry: Registry;
  readonly explain: NonNullable<Replayable['explain']>;
}

export async function startReplay(
  scenario: Scenario,
  makeStore: (registry: Registry, clock: () => number) => Promise<CounterStore>,
  more: Readonly<Record<string, string>> = {},
): Promise<Replayer> {
  const rules = writeRules(scenario);
  const { root } = rules;

  // A call more would be one too many for its second.
  let skippedMs = 0;
  const skipSecond = () => {
    skippedMs += 1_000;
  };
  let now = scenario.steps[0]?.at ?? 0;
  const clock = () => now;
  const registry = createRegistry();
  const settings = settingsOf(scenario, root, more);
  const made = await makeStore(registry, clock);
  const store = createLocalCache(settings, { statistics: registry }).before(
    made as CounterStore & { readonly counters: Counters },
  );
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
    ).loads$,
    clock,
    monotonicMs: () => performance.now() + skippedMs,
    random: Math.random,
    logger: silentLogger,
    outages: createOutageLog({ logger: silentLogger, monotonicMs: () => performance.now() }),
  });
  const addresses = await app.listen();
  await eventually(async () => {
    const { ok } = await fetch(`http://${addresses.http}/healthcheck`);
    if (!ok) throw new Error('the first load is not over');
  });
  // The service waits for its store a moment only.
  await firstValueFrom(store.connected$.pipe(filter(Boolean)));
  const running = { app, addresses, registry, rules, skipSecond };
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
}

function createReplayer(
  { app, addresses, registry, rules, skipSecond }: Running,
  setClock: (seconds: number) => void,
): Replayer {
  const client = new Client(addresses.grpc, credentials.createInsecure());
  const counted = () =>
    Promise.resolve(
      new Map([...registry.readCounters()].map(([name, { value }]) => [name, value])),
    );
  const { http, debug } = addresses;
  const { directory } = rules;
  const service = { client: () => client, http, debug, directory, counted };
  return {
    registry,
    counted,
    setClock,
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
