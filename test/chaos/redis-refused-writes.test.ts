import { isBudgetLimiter, type BudgetLimiter } from '../../src/core/budgets/budget';
import type { StoreError } from '../../src/core/errors';
import type { BudgetState } from '../../src/core/kinds/kind';
import type { Increment } from '../../src/core/ports';
import { AnswerError } from '../../src/counters/redis/store-errors';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { ask, slowRule, usedHits } from '../support/algorithm-increments';
import { budgetEntry, budgetLimiterOf } from '../support/budget-arbitraries';
import { eventually } from '../support/edge/eventually';
import {
  connectRedisCounters,
  stopRedisCounters,
  type RunningRedisCounters,
} from '../support/edge/redis-counters';
import {
  MISCONF,
  noPermissionFor,
  NOREPLICAS,
  OOM,
  type RedisRefusal,
} from '../support/edge/redis-refusals';
import { type RedisServer } from '../support/edge/redis-server';
import { REDIS_STORES, type RedisStore } from '../support/edge/redis-stores';
import { counterStates, type StateLimiter } from '../support/limiters';

jest.setTimeout(60_000);

const UNKNOWN = 'ratelimit.service.call.should_rate_limit.store_unknown_outcome';

function budget(leaseMs?: number): BudgetLimiter {
  const limits = { limit: 10, burst: 10, periodSeconds: 31_536_000, chargeDenied: false };
  return budgetLimiterOf({
    entries: (['window', 'gcra'] as const).map((sort) => budgetEntry({ sort, ...limits })),
    reserve: leaseMs === undefined ? undefined : { leaseMs, isReleased: false },
  });
}

type Writes = 'incrby' | 'psetex' | 'hset';

/** A limit of each kind, and how it writes. */
const KINDS = {
  fixed: { writes: 'incrby', algorithm: undefined },
  guarded: { writes: 'incrby', algorithm: slowRule('fixed_window') },
  gcra: { writes: 'psetex', algorithm: slowRule('gcra') },
  sliding: { writes: 'psetex', algorithm: slowRule('sliding_window') },
  'gcra that charges': { writes: 'psetex', algorithm: slowRule('gcra', 10, true) },
  'sliding that charges': { writes: 'psetex', algorithm: slowRule('sliding_window', 10, true) },
  'list of limits': { writes: 'psetex', algorithm: budget() },
  reservation: { writes: 'hset', algorithm: budget(600_000) },
} as const;
type Kind = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as Kind[];
/** Kinds that one script decides together; with those behind them it is another one. */
const WITHOUT_BUDGETS = NAMES.slice(0, -2);

let serial = 0;
const hit = (kind: Kind, key: string, hits: number | bigint = 1): Increment => {
  const { algorithm } = KINDS[kind];
  if (algorithm === undefined) return increment(key, hits);
  if (!isBudgetLimiter(algorithm)) return ask(algorithm, key, hits);
  const id = String((serial += 1));
  const isReserving = kind === 'reservation' && hits !== 0;
  const reservation = isReserving ? ({ mode: 'reserve', id, saysHits: true } as const) : undefined;
  return increment(key, hits, { limiter: algorithm, reservation });
};

interface Case extends RedisRefusal {
  readonly name: string;
  /** What is refused; the others are written. */
  readonly refuses: Writes | 'all';
}
const CASES: readonly Case[] = [
  { name: 'OOM', refuses: 'all', ...OOM },
  { name: 'NOREPLICAS', refuses: 'all', ...NOREPLICAS },
  { name: 'MISCONF', refuses: 'all', ...MISCONF },
  { name: 'NOPERM for PSETEX', refuses: 'psetex', ...noPermissionFor('psetex', 'setrange') },
  { name: 'NOPERM for INCRBY', refuses: 'incrby', ...noPermissionFor('incrby') },
  { name: 'NOPERM for HSET', refuses: 'hset', ...noPermissionFor('hset') },
];

const isRefused = ({ refuses }: Case, kind: Kind): boolean =>
  refuses === 'all' || refuses === KINDS[kind].writes;

interface Store {
  readonly counters: RunningRedisCounters;
  readonly masters: readonly RedisServer[];
}

async function connect({ address, masters }: RedisStore): Promise<Store> {
  const counters = await connectRedisCounters({ address, timeoutMs: 10_000 });
  // All nodes of a cluster are connected, and what is said once is said.
  const keys = Array.from({ length: 64 }, () => increment(freshKey()));
  await eventually(async () => {
    expect((await counters.add(batch(keys, [keys.length]))).failures).toBeUndefined();
  });
  return { counters, masters };
}

/** What is charged and held of the limit in fixed windows. */
const takenOf = ({ entries: [window], held }: BudgetState): number => (window?.used ?? 0) + held;

/** What became of an increment: how far its counter had come before, or what the server said. */
async function addAll(
  { counters }: Store,
  increments: readonly Increment[],
  groupEnds?: readonly number[],
): Promise<readonly (number | StoreError)[]> {
  const reply = await counters.add(batch(increments, groupEnds)).catch((error: unknown) => {
    const failure = error as StoreError;
    return {
      after: [],
      states: [],
      failures: new Map(increments.map((_, at) => [at, failure])),
    };
  });
  return increments.map(({ limiter, hits }, at) => {
    const failure = reply.failures?.get(at);
    if (failure !== undefined) return failure;
    if (!limiter.kind.readsFirst) return (reply.after[at] ?? NaN) - Number(hits);
    if (isBudgetLimiter(limiter)) return takenOf(reply.states?.[at] as BudgetState);
    return usedHits(counterStates(reply.states)?.[at], limiter as StateLimiter);
  });
}

describe.each(['one server', 'a cluster'] as const)('%s that refuse to write', (name) => {
  let servers: RedisStore;
  let store: Store;
  beforeAll(async () => {
    servers = await REDIS_STORES[name]();
    store = await connect(servers);
  });
  afterAll(async () => {
    await stopRedisCounters();
    await servers.stop();
  });
  const onAll = (act: (server: RedisServer) => Promise<unknown>) =>
    Promise.all(store.masters.map(act));

  /** Under a refusal what cannot be written fails with its words, and all else is as ever. */
  const expectRefused = (each: Case, results: readonly (number | StoreError)[], kinds: Kind[]) => {
    kinds.forEach((kind, at) => {
      const result = results[at];
      if (!isRefused(each, kind)) expect([kind, result]).toEqual([kind, expect.any(Number)]);
      else {
        expect([kind, result]).toEqual([kind, expect.any(AnswerError)]);
        const { answer, fault } = result as AnswerError;
        expect([kind, fault, answer]).toEqual([kind, 'answer', expect.stringMatching(each.says)]);
      }
    });
  };

  it.each(CASES.map((each) => [each.name, each] as const))(
    '(%s) fail what they are asked to write, with their words, and nothing else',
    async (_, each) => {
      const before = store.counters.events.length;
      const keys = NAMES.map(() => freshKey());
      const all = () => NAMES.map((kind, at) => hit(kind, keys[at] as string));
      const looks = NAMES.slice(1).map((kind, at) => hit(kind, keys[at + 1] as string, 0));
      const tooMany = NAMES.slice(1, 4).map((kind) => hit(kind, freshKey(), 99));
      const others = [...looks, ...tooMany];
      expect(await addAll(store, all())).toEqual(NAMES.map(() => 0));
      await onAll(each.mount);
      for (const [at, kind] of NAMES.entries()) {
        for (const key of [freshKey(), keys[at] as string])
          expectRefused(each, await addAll(store, [hit(kind, key)]), [kind]);
      }
      const written = await addAll(store, [...all(), ...others]);
      expectRefused(each, written, NAMES);
      const fresh = NAMES.map((kind) => hit(kind, freshKey()));
      expectRefused(each, await addAll(store, fresh), NAMES);
      for (const kinds of [WITHOUT_BUDGETS, NAMES]) {
        const together = kinds.map((kind) => hit(kind, freshKey()));
        expectRefused(each, await addAll(store, together, [together.length]), kinds);
      }
      expect(written.slice(NAMES.length).every((one) => typeof one === 'number')).toBe(true);
      await onAll(each.clear);

      // Nothing of what failed is counted, and what was written is.
      expect(await addAll(store, all())).toEqual(
        NAMES.map((kind) => (isRefused(each, kind) ? 1 : 3)),
      );
      expect(store.counters.events.slice(before)).toEqual([]);
      expect(store.counters.statistics.get(UNKNOWN) ?? 0).toBe(0);
    },
  );
});
