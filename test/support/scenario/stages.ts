import { filter, firstValueFrom } from 'rxjs';
import { toDecisionOptions } from '../../../src/app/compose/decisions';
import { toLimitOptions } from '../../../src/app/rules/load-options';
import { shareSettings } from '../../../src/app/workers/worker/share-settings';
import {
  chooseCounters,
  type CounterStore,
  type CounterStoreDeps,
} from '../../../src/app/store/store';
import { StoreError } from '../../../src/core/errors';
import type { DecisionRequest } from '../../../src/core/model';
import { readValueLimits } from '../../../src/core/planning/value-limit';
import type { Answer } from '../../../src/core/ports';
import { compileRules } from '../../../src/core/rules/compile';
import type { Rules } from '../../../src/core/rules/rules';
import { createLimitsFrom } from '../../../src/counters/limits-from/create-limits-from';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { createDecideBatch } from '../../../src/decisions/decide-batch';
import { parseRules } from '../../../src/rule-sources/parse-rules';
import { readSettings, type Settings } from '../../../src/settings/settings';
import { createRecordStats } from '../../../src/stats/record-stats';
import { createRegistry, type Registry } from '../../../src/stats/registry';
import { openZones } from '../../../src/zoneinfo/open-zones';
import { nearMemcached, nearRedis } from '../near-stores';
import { readCounters } from '../read-counters';
import { recordingResponder } from '../recording-responder';
import { silentLogger } from '../silent-logger';
import { SCENARIO_START, type Scenario } from './read-scenarios';
import { createWorkerStatistics, relayRules } from './workers';

/** Where a scenario is played: decisions over a store, by a clock that the scenario moves. */
export interface Stage {
  /** That of the rules: a request that names none is for this one. */
  readonly domain: string;
  now(): number;
  setTime(seconds: number): void;
  /** Another version of the rules, in force from the next batch on. */
  setRules(rules: string): Promise<void>;
  /** One batch; the answers in the order of its requests. */
  decide(requests: readonly DecisionRequest[]): Promise<readonly (Answer | undefined)[]>;
  /** What was counted under a name below `ratelimit.service.rate_limit.`, or a whole name. */
  statistic(name: string): Promise<string>;
  /** Whether the store fails whatever it is asked. */
  setAway(isAway: boolean): void;
  /** A command for the store itself. */
  redis(words: readonly string[]): Promise<unknown>;
  /** Reads the limits that `limits_from` of the rules names for these requests. */
  readLimits(requests: readonly DecisionRequest[]): Promise<void>;
  /** What the store holds. */
  keys(): Promise<ReadonlyMap<string, string>>;
  /** In how many seconds the store drops a key. */
  kept(key: string): Promise<number | 'none'>;
}

/** Opens stages on one kind of store, one after the other. */
export interface Setup {
  open(scenario: Scenario): Promise<Stage>;
  close(): Promise<unknown>;
}

/** One more than one: batches go to the instances by turns. */
interface SetupOptions {
  readonly instances?: number;
  /** By which the clock of each instance is behind that of the one before it. */
  readonly lateSeconds?: number;
  /** They are workers of one service: its rules and statistics are messages, its settings are shared out. */
  readonly areWorkers?: boolean;
  readonly settings?: Readonly<Record<string, string>>;
}

/** A server that a set-up counts on; undefined members: it counts in memory. */
interface Server {
  readonly settings: Readonly<Record<string, string>>;
  setClock(seconds: number): void;
  /** Undefined: each scenario has a store of its own. */
  readonly empty?: () => Promise<unknown>;
  readonly redis?: (words: readonly string[]) => Promise<unknown>;
  keys(): Promise<ReadonlyMap<string, string>>;
  kept(key: string): Promise<number | 'none'>;
  close(): Promise<unknown>;
}

const nothing = (): Promise<void> => Promise.resolve();
/** Of stores that do not say what they hold. */
const untold = {
  keys: () => Promise.resolve(new Map<string, string>()),
  kept: () => Promise.resolve('none' as const),
};

export const SETUPS = {
  memory: () =>
    setup({
      settings: { BACKEND_TYPE: 'memory' },
      setClock: () => undefined,
      close: nothing,
      ...untold,
    }),
  redis: async () => setup(await redisServer()),
  'two instances': async () => setup(await redisServer(), { instances: 2 }),
  'late instance': async () => setup(await redisServer(), { instances: 2, lateSeconds: 5 }),
  'two workers': async () => setup(await redisServer(), { instances: 2, areWorkers: true }),
  leases: async () => setup(await redisServer(), { settings: { KVSTORE_LEASES: 'on' } }),
  memcached: async () => setup(await memcachedServer()),
} as const satisfies Record<string, () => Setup | Promise<Setup>>;

export type SetupName = keyof typeof SETUPS;

async function redisServer(): Promise<Server> {
  const { port, client, setClock } = await nearRedis(SCENARIO_START);
  return {
    settings: { BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${String(port)}` },
    setClock,
    empty: () => client.flushall(),
    redis: ([command = '', ...more]) => client.call(command, ...more),
    async keys() {
      const names = await client.keys('*');
      return new Map(
        await Promise.all(names.map(async (key) => [key, (await client.get(key)) ?? ''] as const)),
      );
    },
    async kept(key) {
      const ms = await client.pttl(key);
      return ms < 0 ? 'none' : ms / 1_000;
    },
    close: () => client.quit(),
  };
}

async function memcachedServer(): Promise<Server> {
  const { port, setClock, ask } = await nearMemcached(SCENARIO_START);
  return {
    settings: { BACKEND_TYPE: 'memcache', MEMCACHE_HOST_PORT: `127.0.0.1:${String(port)}` },
    setClock,
    empty: () => ask('flush_all'),
    close: nothing,
    ...untold,
  };
}

function setup(server: Server, options: SetupOptions = {}): Setup {
  const { instances = 1, lateSeconds = 0, areWorkers = false, settings: more = {} } = options;
  let nowSeconds = SCENARIO_START;
  const setTime = (seconds: number): void => {
    nowSeconds = seconds;
    server.setClock(seconds);
  };
  const depsOf = (instance: number) => ({
    clock: () => nowSeconds - instance * lateSeconds,
    monotonicMs: () => nowSeconds * 1_000,
    random: () => 0.5,
    logger: silentLogger,
    statistics: createRegistry(),
  });
  const stores = new Map<string, Promise<OpenStores>>();
  /** Stores stay open between scenarios of the same settings. */
  const storesOf = (scenario: Scenario): Promise<OpenStores> => {
    // Memory cannot be emptied: each scenario has its own.
    const name = JSON.stringify([scenario.settings, server.empty === undefined ? stores.size : 0]);
    const open = stores.get(name) ?? openStores(settingsOf(scenario), instances, depsOf);
    stores.set(name, open);
    return open;
  };
  const compiled = new Map<string, Promise<readonly Rules[]>>();
  /** The rules of each instance. */
  const rulesOf = (text: string, scenario: Scenario): Promise<readonly Rules[]> => {
    const name = JSON.stringify([text, scenario.settings]);
    const rules = compiled.get(name) ?? compileForAll(text, settingsOf(scenario));
    compiled.set(name, rules);
    return rules;
  };
  const compileForAll = async (text: string, settings: Settings): Promise<readonly Rules[]> => {
    const owned = compile(text, settings);
    if (!areWorkers) return Array<Rules>(instances).fill(owned.rules);
    return relayRules(owned, { ...toLimitOptions(settings), bounds: settings.bounds }, instances);
  };
  const settingsOf = (scenario: Scenario): Settings => {
    const read = readSettings({
      EXPIRATION_JITTER_MAX_SECONDS: '0',
      ...server.settings,
      ...more,
      ...scenario.settings,
    });
    if (!read.ok) throw new Error(read.problems.join('\n'));
    return areWorkers ? shareSettings(read.settings, instances) : read.settings;
  };
  return {
    async open(scenario) {
      setTime(SCENARIO_START);
      await server.empty?.();
      const open = await storesOf(scenario);
      const settings = settingsOf(scenario);
      const first = await rulesOf(scenario.rules, scenario);
      const rules = first.map((current) => ({ current }));
      const statistics = areWorkers ? createWorkerStatistics(instances) : oneRegistry(instances);
      let isAway = false;
      const whenThere = <T>(ask: () => Promise<T> | T): Promise<T> | T =>
        isAway ? Promise.reject(new StoreError('store_unavailable', 'the store is away')) : ask();
      const deciders = open.stores.map((store, at) =>
        createDecider(settings, {
          ...depsOf(at),
          store,
          registry: ofInstance(statistics.registries, at),
          rules: ofInstance(rules, at),
          whenThere,
        }),
      );
      let batches = 0;
      return {
        domain: [...ofInstance(first, 0).domains.keys()][0] ?? '',
        now: () => nowSeconds,
        setTime,
        async setRules(text) {
          for (const [at, current] of (await rulesOf(text, scenario)).entries())
            ofInstance(rules, at).current = current;
        },
        decide(requests) {
          const decider = deciders[batches % instances];
          batches += 1;
          return decider?.decide(requests) ?? Promise.resolve([]);
        },
        statistic: async (name) => statisticOf(await statistics.collect(), name),
        keys: server.keys,
        kept: server.kept,
        setAway(away) {
          isAway = away;
        },
        redis: (words) => server.redis?.(words) ?? Promise.reject(new Error('this is no Redis')),
        async readLimits(requests) {
          for (const { readLimits } of deciders) await readLimits(requests);
        },
      };
    },
    async close() {
      for (const open of stores.values()) await (await open).close();
      await server.close();
    },
  };
}

interface OpenStores {
  readonly stores: readonly CounterStore[];
  close(): Promise<void>;
}

async function openStores(
  settings: Settings,
  instances: number,
  depsOf: (instance: number) => CounterStoreDeps,
): Promise<OpenStores> {
  const stores = Array.from({ length: instances }, (_, at) => chooseCounters(settings, depsOf(at)));
  const running = stores.map(({ run$ }) => run$.subscribe());
  for (const { connected$ } of stores) await firstValueFrom(connected$.pipe(filter(Boolean)));
  return {
    stores,
    async close() {
      for (const { counters } of stores) await counters.close();
      for (const one of running) one.unsubscribe();
    },
  };
}

const zones = openZones({
  onRefused({ file, reason }) {
    throw new Error(`${file}: ${reason}`);
  },
});

function ofInstance<T>(all: readonly T[], instance: number): T {
  const its = all[instance];
  if (its === undefined) throw new Error(`there is no instance ${String(instance)}`);
  return its;
}

/** Statistics of instances that count into one place. */
function oneRegistry(instances: number) {
  const registry = createRegistry();
  return {
    registries: Array<Registry>(instances).fill(registry),
    collect: () => Promise.resolve(registry),
  };
}

function compile(text: string, settings: Settings) {
  const bytes = Buffer.from(text);
  const parsed = parseRules([{ file: 'rules.yaml', bytes }], {
    mergeDomains: false,
    secretKeyIds: undefined,
  });
  const { domains, problems } = parsed;
  if (domains.length === 0) throw new Error(JSON.stringify(problems));
  const rules = compileRules(domains, { ...toLimitOptions(settings), findZone: zones.find });
  return { rules, definitions: domains };
}

interface DeciderDeps extends CounterStoreDeps {
  readonly store: CounterStore;
  readonly registry: Registry;
  readonly rules: { readonly current: Rules };
  /** Asks the store; rejects while it is away. */
  readonly whenThere: <T>(ask: () => Promise<T> | T) => Promise<T> | T;
}

/** The decisions of one instance, as the service puts them together. */
function createDecider(settings: Settings, { store, registry, whenThere, ...deps }: DeciderDeps) {
  const { counters, readFields } = store;
  // Nothing subscribes to it: limits are read when a scenario says so, and by no timer.
  const limitsFrom =
    readFields &&
    createLimitsFrom({
      ...deps,
      statistics: registry,
      readFields: async (hash, fields) => whenThere(() => readFields(hash, fields)),
    });
  const decideBatch = createDecideBatch(
    {
      ...deps,
      counters: { add: (batch) => whenThere(() => counters.add(batch)) },
      localCounters: createMemoryCounters(deps),
      onFault(error) {
        throw error;
      },
    },
    { ...toDecisionOptions(settings), limitsFrom },
  );
  const record = createRecordStats(registry);
  return {
    async decide(requests: readonly DecisionRequest[]) {
      const responder = recordingResponder();
      const pending = requests.map((request, callId) => ({ request, responder, callId }));
      record(await decideBatch(pending));
      return requests.map((_, callId) => responder.answers.get(callId));
    },
    async readLimits(requests: readonly DecisionRequest[]) {
      for (const request of requests)
        await readValueLimits(deps.rules.current, request, limitsFrom);
    },
  };
}

function statisticOf(registry: Registry, name: string): string {
  const whole = name.startsWith('ratelimit.') ? name : `ratelimit.service.rate_limit.${name}`;
  for (const [full, { value }] of readCounters(registry)) if (full === whole) return String(value);
  return '0';
}
