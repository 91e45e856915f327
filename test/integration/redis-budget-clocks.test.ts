import type { BudgetLimiter } from '../../src/core/budgets/budget';
import type { BudgetState, Reservation } from '../../src/core/kinds/kind';
import type { ScriptIncrement } from '../../src/counters/redis/operations-call';
import { readBudgetAnswer } from '../../src/counters/redis/budgets/budget-answer';
import { encodeBudgetCall } from '../../src/counters/redis/budgets/budget-call';
import { BUDGETS_SCRIPT } from '../../src/counters/redis/lua/scripts';
import { RESET_RECORD } from '../../src/counters/redis/lua/scripts';
import { unpack } from '../../src/counters/redis/message-pack';
import { callScript } from '../../src/counters/redis/script-call';
import { budgetEntry, budgetLimiterOf } from '../support/budget-arbitraries';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';

const DAY = 86_400;
/** A second before midnight, UTC. */
const EVE_MS = 19_676 * DAY * 1_000 - 1_000;
const LEASE_MS = 60_000;
const LIMIT = 10;

const entry = (sort: 'window' | 'gcra' | 'slots', periodSeconds = DAY) =>
  budgetEntry({ sort, limit: LIMIT, burst: LIMIT, periodSeconds, chargeDenied: false });

const limiterWith = (
  entries: BudgetLimiter['budget']['entries'],
  leaseMs = LEASE_MS,
): BudgetLimiter =>
  budgetLimiterOf({
    entries,
    reserve: { leaseMs, isReleased: false },
    blocks: [],
    isForced: false,
    isShadow: false,
  });

const DAILY = limiterWith([entry('window')]);
const LISTED = limiterWith([entry('gcra', 31_536_000), entry('window'), entry('slots')]);

let server: RedisServer;
let serial = 0;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

interface When {
  /** By the clock of the server, after `EVE_MS`. */
  readonly ms: number;
  /** By the clock of the process; default: the same. */
  readonly ownMs?: number;
}

/** One counter, and what is asked of it. */
function createCounter() {
  const key = `{c:clocks_${String((serial += 1))}~1}~r`;
  const play = async (
    { ms, ownMs = ms }: When,
    hits: number,
    {
      limiter = DAILY,
      ...reservation
    }: Partial<Reservation> & { readonly limiter?: BudgetLimiter } = {},
  ) => {
    const { mode, id = 'a', saysHits = true } = reservation;
    const operation: ScriptIncrement = {
      ...{ key, hits, times: 1, ttlSeconds: 0, limiter },
      reservation: mode && { mode, id, saysHits },
    };
    const nowSeconds = (EVE_MS + ownMs) / 1_000;
    const call = {
      increments: [operation],
      groupEnds: undefined,
      nowSeconds,
      isDeclaringKeys: true,
    };
    const args = encodeBudgetCall({ ...call, nowMicros: (EVE_MS + ms) * 1_000 });
    const answer = await callScript(server.client, BUDGETS_SCRIPT, args, 'eval');
    const { states, failures } = readBudgetAnswer(unpack(answer as Buffer), [operation]);
    expect(failures).toBeUndefined();
    const state = states[0] as BudgetState;
    const isOver = limiter.kind.refuses({ ...operation, windowEndSeconds: 0 }, state);
    return { ...state, isOver };
  };
  const standing = async (when: When, limiter = DAILY) => {
    const { entries, held, open } = await play(when, 0, { limiter });
    return { used: entries.map(({ used }) => used), held, open };
  };
  return { key, play, standing };
}

describe('the clock of Redis', () => {
  it('that jumps back by 10 s ends no lease twice and none too early, of whatever lease', async () => {
    const { play, standing } = createCounter();
    await play({ ms: 0 }, 3, { mode: 'reserve', id: 'a' });
    await play({ ms: -10_000 }, 2, { mode: 'reserve', id: 'b' });
    expect(await standing({ ms: -10_000 + LEASE_MS - 1 })).toMatchObject({ held: 5, open: 2 });
    expect(await standing({ ms: LEASE_MS - 10_000 })).toMatchObject({ held: 3, open: 1 });
    await play({ ms: LEASE_MS - 1 }, 1, { mode: 'settle', id: 'a' });
    // The lease of one ended in the new day, and the other was settled there.
    expect(await standing({ ms: LEASE_MS })).toEqual({ used: [3], held: 0, open: 0 });
  });

  it('that jumps ahead by 10 s ends leases that are shorter, each charged once', async () => {
    const short = limiterWith([entry('window')], 5_000);
    const { play, standing } = createCounter();
    await play({ ms: 2_000 }, 4, { mode: 'reserve', limiter: short });
    const jumped = await play({ ms: 12_000 }, 0, { limiter: short });
    expect([jumped.lapsed, jumped.held]).toEqual([4, 0]);
    await play({ ms: 2_000 }, 4, { mode: 'settle', limiter: short });
    expect(await standing({ ms: 2_500 })).toEqual({ used: [4], held: 0, open: 0 });
  });

  it('that goes back again and again begins eight rows of numbers at most, and ends all of them', async () => {
    const { key, play, standing } = createCounter();
    const limiter = limiterWith([entry('gcra')]);
    for (let at = 0; at < 10; at += 1)
      await play({ ms: -at * 10_000 }, 1, { mode: 'reserve', id: String(at), limiter });
    expect((await server.client.hgetBuffer(key, 's'))?.[0]).toBe(8);
    expect(await standing({ ms: -90_000 }, limiter)).toMatchObject({ held: 10, open: 10 });
    expect(await standing({ ms: LEASE_MS }, limiter)).toMatchObject({ held: 0, open: 0 });
    await play({ ms: LEASE_MS }, 1, { mode: 'settle', id: '3', limiter });
    expect((await server.client.hkeys(key)).length).toBe(1);
  });
});

describe('two instances around midnight', () => {
  it('count in one window: what is charged in the new day is seen by the one that is behind', async () => {
    const { play, standing } = createCounter();
    await play({ ms: 0 }, 6);
    // The one is two seconds ahead, the other is right.
    expect((await play({ ms: 500, ownMs: 2_500 }, 7)).isOver).toBe(false);
    expect((await play({ ms: 600 }, 4)).isOver).toBe(true);
    expect((await play({ ms: 700 }, 3)).isOver).toBe(false);
    expect(await standing({ ms: 1_500 })).toMatchObject({ used: [LIMIT] });
  });

  it('carry what is held into the new day until it is settled, whichever of them does', async () => {
    const { play, standing } = createCounter();
    await play({ ms: 0 }, 6, { mode: 'reserve' });
    expect((await play({ ms: 500, ownMs: 2_500 }, 5)).isOver).toBe(true);
    expect((await play({ ms: 600, ownMs: 2_600 }, 4)).isOver).toBe(false);
    await play({ ms: 700 }, 5, { mode: 'settle' });
    expect(await standing({ ms: 1_500 })).toEqual({ used: [9], held: 0, open: 0 });
  });
});

describe('a rule that is reloaded with reservations open', () => {
  it('from one limit to a list and back keeps what is held and what was used', async () => {
    const { play, standing } = createCounter();
    await play({ ms: 2_000 }, 2);
    await play({ ms: 2_000 }, 3, { mode: 'reserve', id: 'a' });
    expect(await standing({ ms: 2_000 }, LISTED)).toEqual({ used: [0, 2, 0], held: 3, open: 1 });
    expect((await play({ ms: 2_000 }, 6, { limiter: LISTED })).isOver).toBe(true);
    await play({ ms: 2_000 }, 4, { mode: 'reserve', id: 'b', limiter: LISTED });
    expect((await play({ ms: 2_000 }, 2)).isOver).toBe(true);
    await play({ ms: 2_000 }, 1, { mode: 'settle', id: 'a' });
    await play({ ms: 2_000 }, 4, { mode: 'settle', id: 'b', limiter: LISTED });
    expect(await standing({ ms: 2_000 })).toEqual({ used: [7], held: 0, open: 0 });
  });

  it('with a shorter lease ends the new ones first', async () => {
    const { play, standing } = createCounter();
    const short = limiterWith([entry('window')], 5_000);
    await play({ ms: 2_000 }, 3, { mode: 'reserve', id: 'long' });
    await play({ ms: 2_000 }, 2, { mode: 'reserve', id: 'short', limiter: short });
    expect(await standing({ ms: 7_000 }, short)).toEqual({ used: [2], held: 3, open: 1 });
    expect(await standing({ ms: 2_000 + LEASE_MS })).toEqual({ used: [5], held: 0, open: 0 });
  });
});

it('a reset in between ends what is counted, and neither what is held nor its charge', async () => {
  const { key, play, standing } = createCounter();
  await play({ ms: 2_000 }, 5);
  await play({ ms: 2_000 }, 3, { mode: 'reserve' });
  await server.client.eval(RESET_RECORD, 1, key, 'hash');
  expect(await standing({ ms: 2_000 })).toEqual({ used: [0], held: 3, open: 1 });
  expect((await play({ ms: 2_000 }, 8)).isOver).toBe(true);
  await play({ ms: 2_000 }, 2, { mode: 'settle' });
  expect(await standing({ ms: 2_000 })).toEqual({ used: [2], held: 0, open: 0 });
  await server.client.eval(RESET_RECORD, 1, key, 'hash');
  expect(await server.client.exists(key)).toBe(0);
});
