import { filter, firstValueFrom } from 'rxjs';
import { toDecisionOptions } from '../../../src/app/compose/decisions';
import { toLimitOptions } from '../../../src/app/rules/load-options';
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
import { nearMemcached, nearRedis } from '../near-stores';
import { readCounters } from '../read-counters';
import { recordingResponder } from '../recording-responder';
import { silentLogger } from '../silent-logger';
import { SCENARIO_START } from './play-scenario';
import type { Scenario } from './read-scenarios';

/** Where a scenario is played: decisions over a store, by a clock that the scenario moves. */
export interface Stage {
  /** That of the rules: a request that names none is for this one. */
  readonly domain: string;
  now(): number;
  setTime(seconds: number): void;
  /** One batch; the answers in the order of its requests. */
  decide(requests: readonly DecisionRequest[]): Promise<readonly (Answer | undefined)[]>;
  /** What was counted under a name below `ratelimit.service.rate_limit.`, or a whole name. */
  statistic(name: string): string;
  /** Whether the store fails whatever it is asked. */
  setAway(isAway: boolean): void;
  /** A command for the store itself. */
  redis(words: readonly string[]): Promise<unknown>;
  /** Reads the limits that `limits_from` of the rules names for these requests. */
  readLimits(requests: readonly DecisionRequest[]): Promise<void>;
  /** What the store holds. */
  keys(): Promise<ReadonlyMap<string, string>>;
}

/** Opens stages on one kind of store, one after the other. */
export interface Setup {
  open(scenario: Scenario): Promise<Stage>;
  close(): Promise<unknown>;
}

/** One more than one: batches go to the instances by turns. */
interface SetupOptions {
  readonly instances?: number;
  readonly settings?: Readonly<Record<string, string>>;
}

/** A server that a set-up counts on; undefined members: it counts in memory. */
interface Server {
  readonly settings: Readonly<Record<string, string>>;
  setClock(seconds: number): void;
  readonly empty?: () => Promise<unknown>;
  readonly redis?: (words: readonly string[]) => Promise<unknown>;
  keys(): Promise<ReadonlyMap<string, string>>;
  close(): Promise<unknown>;
}

const nothing = (): Promise<void> => Promise.resolve();

export const SETUPS = {
  memory: () =>
    setup({
      settings: { BACKEND_TYPE: 'memory' },
      setClock: nothing,
      close: nothing,
      keys: () => Promise.resolve(new Map()),
    }),
  redis: async () => setup(await redisServer()),
  'two instances': async () => setup(await redisServer(), { instances: 2 }),
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
    close: () => client.quit(),
  };
}

async function memcachedServer(): Promise<Server> {
  const { port, setClock, ask } = await nearMemcached(SCENARIO_START);
  return {
    settings: { BACKEND_TYPE: 'memcache', MEMCACHE_HOST_PORT: `127.0.0.1:${String(port)}` },
    setClock,
    empty: () => ask('flush_all'),
    keys: () => Promise.resolve(new Map()),
    close: nothing,
  };
}

function setup(server: Server, { instances = 1, settings: more = {} }: SetupOptions = {}): Setup {
  let nowSeconds = SCENARIO_START;
  const setTime = (seconds: number): void => {
    nowSeconds = seconds;
    server.setClock(seconds);
  };
  const deps = {
    clock: () => nowSeconds,
    monotonicMs: () => nowSeconds * 1_000,
    random: () => 0.5,
    logger: silentLogger,
    statistics: createRegistry(),
  };
  const stores = new Map<string, Promise<OpenStores>>();
  /** Stores stay open between scenarios of the same settings. */
  const storesOf = (scenario: Scenario): Promise<OpenStores> => {
    // Memory cannot be emptied: each scenario has its own.
    const name = JSON.stringify([scenario.settings, server.empty === undefined ? stores.size : 0]);
    const open = stores.get(name) ?? openStores(settingsOf(scenario), instances, deps);
    stores.set(name, open);
    return open;
  };
  const compiled = new Map<string, Rules>();
  const rulesOf = (scenario: Scenario, settings: Settings): Rules => {
    const name = JSON.stringify([scenario.rules, scenario.settings]);
    const rules = compiled.get(name) ?? compile(scenario, settings);
    compiled.set(name, rules);
    return rules;
  };
  const settingsOf = (scenario: Scenario): Settings => {
    const read = readSettings({
      EXPIRATION_JITTER_MAX_SECONDS: '0',
      ...server.settings,
      ...more,
      ...scenario.settings,
    });
    if (!read.ok) throw new Error(read.problems.join('\n'));
    return read.settings;
  };
  return {
    async open(scenario) {
      setTime(SCENARIO_START);
      await server.empty?.();
      const open = await storesOf(scenario);
      const settings = settingsOf(scenario);
      const rules = rulesOf(scenario, settings);
      const registry = createRegistry();
      let isAway = false;
      const whenThere = <T>(ask: () => Promise<T> | T): Promise<T> | T =>
        isAway ? Promise.reject(new StoreError('store_unavailable', 'the store is away')) : ask();
      const deciders = open.stores.map((store) =>
        createDecider(settings, rules, { ...deps, store, registry, whenThere }),
      );
      let batches = 0;
      return {
        domain: [...rules.domains.keys()][0] ?? '',
        now: deps.clock,
        setTime,
        decide(requests) {
          const decider = deciders[batches % instances];
          batches += 1;
          return decider?.decide(requests) ?? Promise.resolve([]);
        },
        statistic: (name) => statisticOf(registry, name),
        keys: server.keys,
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
  deps: CounterStoreDeps,
): Promise<OpenStores> {
  const stores = Array.from({ length: instances }, () => chooseCounters(settings, deps));
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

function compile({ rules }: Scenario, settings: Settings): Rules {
  const bytes = Buffer.from(rules);
  const parsed = parseRules([{ file: 'rules.yaml', bytes }], {
    mergeDomains: false,
    secretKeyIds: undefined,
  });
  const { domains, problems } = parsed;
  if (domains.length === 0) throw new Error(JSON.stringify(problems));
  return compileRules(domains, toLimitOptions(settings));
}

interface DeciderDeps extends CounterStoreDeps {
  readonly store: CounterStore;
  readonly registry: Registry;
  /** Asks the store; rejects while it is away. */
  readonly whenThere: <T>(ask: () => Promise<T> | T) => Promise<T> | T;
}

/** The decisions of one instance, as the service puts them together. */
function createDecider(
  settings: Settings,
  rules: Rules,
  { store, registry, whenThere, ...deps }: DeciderDeps,
) {
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
      rules: { current: rules },
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
      for (const request of requests) await readValueLimits(rules, request, limitsFrom);
    },
  };
}

function statisticOf(registry: Registry, name: string): string {
  const whole = name.startsWith('ratelimit.') ? name : `ratelimit.service.rate_limit.${name}`;
  for (const [full, { value }] of readCounters(registry)) if (full === whole) return String(value);
  return '0';
}
