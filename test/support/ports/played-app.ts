import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BehaviorSubject, filter, firstValueFrom } from 'rxjs';
import { createOutageLog } from '../../../src/app/outage-log';
import { toLimitOptions } from '../../../src/app/rules/load-options';
import { createApp } from '../../../src/app/run-alone';
import { chooseCounters, type CounterStore } from '../../../src/app/store/store';
import { StoreError } from '../../../src/core/errors';
import { compileInSlices } from '../../../src/core/rules/compile';
import type { Rules } from '../../../src/core/rules/rules';
import type { LoadResult } from '../../../src/rule-sources/load-result';
import { createRuleLoader } from '../../../src/rule-sources/loader/rule-loader';
import { parseInProcess } from '../../../src/rule-sources/directory-source';
import { readSettings, type Settings } from '../../../src/settings/settings';
import { createRegistry } from '../../../src/stats/registry';
import { nearRedis } from '../near-stores';
import { readCounters } from '../read-counters';
import { createRecordingLogger } from '../recording-logger';
import { SCENARIO_START } from '../scenario/read-scenarios';
import { playPorts, turn } from './played-ports';

export interface AppSetup {
  readonly rules: string;
  /** `$NAME` in a value is the path of that file; `$.` the folder of all of them. */
  readonly settings: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
}

/**
 * The whole service in this process: its ports are played, its clock stands still, its counters are in memory, or, with
 * `KVSTORE_URL=near`, in the Redis of this worker of jest.
 */
export type PlayedApp = Awaited<ReturnType<typeof startApp>>;

export async function startApp({ rules, settings: given, files }: AppSetup) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-ports-'));
  const writeFile = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  for (const [name, text] of Object.entries(files)) writeFile(name, text);
  const redis = given['KVSTORE_URL'] === 'near' ? await nearRedis(SCENARIO_START) : undefined;
  const place = redis && {
    BACKEND_TYPE: 'kvstore',
    KVSTORE_URL: `127.0.0.1:${String(redis.port)}`,
  };
  const settings = toSettings({ ...given, ...place }, folder);
  let nowSeconds = SCENARIO_START;
  const { logger, lines } = createRecordingLogger();
  const registry = createRegistry();
  const deps = {
    clock: () => nowSeconds,
    monotonicMs: () => nowSeconds * 1_000,
    random: () => 0.5,
    logger,
  };
  const store = whichMayFail(chooseCounters(settings, { ...deps, statistics: registry }));
  const load = createRuleLoader(
    {
      parse: parseInProcess,
      compile: (domains) => compileInSlices(domains, 500, toLimitOptions(settings)),
      clock: deps.clock,
    },
    { mergeDomains: false, secretKeyIds: undefined },
  );
  const loadRules = (text: string): Promise<LoadResult<Rules>> =>
    load(
      {
        files: text === '' ? [] : [{ file: 'rules.yaml', bytes: Buffer.from(text) }],
        problems: [],
      },
      new AbortController().signal,
    );
  const loads = new BehaviorSubject(await loadRules(rules));
  const outages = createOutageLog(deps);
  const ports = playPorts();
  const app = createApp(settings, { ...deps, registry, store, loads$: loads, outages });
  const counted = (): ReadonlyMap<string, number> =>
    new Map([...readCounters(registry)].map(([name, { value }]) => [name, value]));
  await app.listen();
  await firstValueFrom(store.connected$.pipe(filter(Boolean)));
  if (settings.check.config !== undefined)
    while (![...counted().keys()].some((name) => name.startsWith('ratelimit.check.config_load')))
      await turn();
  // Of the start only mistakes are of interest.
  lines.splice(0, lines.length, ...lines.filter(({ level }) => level === 'error'));
  const { grpc, http, debug } = settings.servers;
  return {
    connect: ports.connect,
    ports: {
      ...{ grpc: grpc.port, http: http.port, debug: debug.port },
      metrics: settings.statistics.pullMetrics.port,
    },
    lines,
    counted,
    writeFile,
    removeFile(name: string) {
      rmSync(join(folder, name));
    },
    now: () => nowSeconds,
    setTime(seconds: number) {
      nowSeconds = seconds;
      redis?.setClock(seconds);
    },
    redis: redis?.client,
    async setRules(text: string) {
      loads.next(await loadRules(text));
    },
    setStore: store.set,
    async stop() {
      await app.stop();
      await redis?.client.quit();
      ports.end();
      rmSync(folder, { recursive: true });
    },
  };
}

function toSettings(given: AppSetup['settings'], folder: string): Settings {
  const put = (value: string): string => value.replaceAll('$', `${folder}/`);
  const read = readSettings({
    DISABLE_STATS: 'true',
    BACKEND_TYPE: 'memory',
    ...Object.fromEntries(Object.entries(given).map(([name, value]) => [name, put(value)])),
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.settings;
}

/** `hangs`: what it is asked stays without an answer until it is `back`. */
export type StoreState = 'back' | 'away' | 'late' | 'hangs';

const FAILURES = {
  away: new StoreError('store_unavailable', 'the store is away'),
  late: new StoreError('store_timeout', 'the store is late'),
} as const;

function whichMayFail(store: CounterStore) {
  let state: StoreState = 'back';
  let come: () => void = () => undefined;
  let isBack = Promise.resolve();
  const { counters } = store;
  return {
    ...store,
    counters: {
      close: () => counters.close(),
      async add(batch: Parameters<typeof counters.add>[0]) {
        if (state === 'away' || state === 'late') throw FAILURES[state];
        await isBack;
        return counters.add(batch);
      },
    },
    set(next: StoreState) {
      state = next;
      if (next === 'hangs') isBack = new Promise((resolve) => (come = resolve));
      else come();
    },
  };
}
