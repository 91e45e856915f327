import fc from 'fast-check';
import type { BudgetLimiter } from '../../src/core/budgets/budget';
import type { BudgetState, Limiter, Reservation } from '../../src/core/kinds/kind';
import type { CounterState } from '../../src/core/kinds/state';
import { readRecordOf } from '../../src/counters/redis/counter-writer';
import type { ScriptIncrement } from '../../src/counters/redis/operations-call';
import { PUT_PART, READ_COUNTER, RESET_RECORD } from '../../src/counters/redis/lua/scripts';
import { listOpen } from '../../src/counters/redis/open-reservations';
import type { RuleLimit } from '../../src/core/rules/rules';
import {
  budgetEntry,
  budgetLimiterOf,
  budgetLimiters,
  budgetSteps,
} from '../support/budget-arbitraries';
import { callBudgets } from '../support/budget-call';
import { withClock } from '../support/redis-clock';
import { nearRedis, type NearRedis } from '../support/near-stores';

/** What operators read of a counter is what the next call finds, by the same clock: that of Redis. */

const START_MS = 1_700_000_040_000;
const LEASE_MS = 60_000;

const TOKENS = budgetLimiterOf({
  entries: (
    [
      ['gcra', 1_000, 600],
      ['window', 9_000, 86_400],
      ['slots', 400, 1],
    ] as const
  ).map(([sort, limit, periodSeconds]) => budgetEntry({ sort, limit, periodSeconds })),
  reserve: { leaseMs: LEASE_MS, isReleased: false },
});

let server: NearRedis;
let serial = 0;
beforeAll(async () => {
  server = await nearRedis(START_MS / 1_000);
});
afterAll(() => server.client.quit());

function createCounter() {
  const key = `{c:reads_${String((serial += 1))}~1}~r`;
  let nowMs = START_MS;
  const play = async (limiter: BudgetLimiter, hits: number, reservation?: Reservation) => {
    const operation: ScriptIncrement = {
      ...{ key, hits, times: 1, ttlSeconds: 0, limiter },
      reservation,
    };
    const nowSeconds = Math.floor(nowMs / 1_000);
    const { states, failures } = await callBudgets(server.client, [operation], {
      nowMs,
      nowSeconds,
    });
    expect(failures).toBeUndefined();
    return states[0] as BudgetState;
  };
  const sender = {
    send: (_: string, commands: readonly (readonly string[])[]) =>
      Promise.all(
        commands.map((words) => {
          const [name = '', ...rest] = withClock(words, nowMs * 1_000);
          return server.client.call(name, ...rest);
        }),
      ),
  };
  return {
    play,
    pass: (ms: number) => (nowMs += ms),
    reserve: (id: string, hits: number) =>
      play(TOKENS, hits, { mode: 'reserve', id, saysHits: true }),
    /** What a call finds that changes nothing. */
    found: (limiter = TOKENS) => play(limiter, 0, { mode: 'read', id: '', saysHits: false }),
    read: async (limiter = TOKENS) => {
      const { state, ...rest } = await readRecordOf(
        sender,
        key,
        limiter as Limiter as Limiter<CounterState>,
      );
      return { state: state as BudgetState, ...rest };
    },
    list: async () =>
      (
        await listOpen(sender, { key, rule: { limiter: TOKENS } as unknown as RuleLimit }, 1_000)
      ).map(({ id }) => id),
  };
}

it('reads what the next call finds, whatever was called before and whatever has ended since', async () => {
  await fc.assert(
    fc.asyncProperty(budgetLimiters(true), budgetSteps(true), async (limiter, steps) => {
      const counter = createCounter();
      for (const { pauseMs, share, mode, id, saysHits } of steps) {
        const hits = Math.ceil(Math.max(0, share) * limiter.size) + 0;
        const reservation = mode === 'ask' ? undefined : { mode, id, saysHits };
        await counter.play(limiter, hits, reservation);
        counter.pass(pauseMs);
        expect((await counter.read(limiter)).state).toEqual(await counter.found(limiter));
      }
    }),
    { numRuns: 100 },
  );
});

it('shows no reservation as open whose lease has ended, and charges it as the next call does', async () => {
  const { reserve, pass, read, list, found } = createCounter();
  await reserve('a', 300);
  pass(20_000);
  await reserve('b', 200);
  pass(LEASE_MS - 20_000 - 1);
  expect(await list()).toEqual(['a', 'b']);
  expect(await read()).toMatchObject({ count: 500, state: { held: 500, open: 2 } });
  pass(1);
  expect(await list()).toEqual(['b']);
  const { state, count, firstEndMs } = await read();
  expect([state.held, state.open, count]).toEqual([200, 1, 500]);
  expect(firstEndMs).toBe(START_MS + 20_000 + LEASE_MS);
  expect(state.entries[1]).toMatchObject({ used: 300 });
  pass(20_000);
  expect([await list(), (await read()).state.open]).toEqual([[], 0]);
  expect((await read()).state).toEqual(await found());
});

it('shows as held what the next call leaves held: no call ends more than 250', async () => {
  const { reserve, pass, read, list, found } = createCounter();
  for (let at = 0; at < 260; at += 1) await reserve(`old${String(at)}`, 1);
  pass(30_000);
  await reserve('new', 5);
  pass(LEASE_MS - 30_000);
  expect(await list()).toEqual(['new']);
  expect((await read()).state).toMatchObject({ held: 15, open: 11 });
  expect((await read()).state).toEqual(await found());
});

describe.each(['string', 'hash'] as const)('a counter that is a %s', (kind) => {
  const key = `{c:parts_${kind}~1}~r`;
  const put = (part: string, lifeMs: number) =>
    server.client.eval(PUT_PART, 1, key, kind, part.slice(0, 4), part, START_MS + lifeMs, lifeMs);
  const read = () => server.client.eval(READ_COUNTER, 1, key, kind, 0, 0, 0, 0, 0);

  it('keeps its longer time to live, and its other parts, when one is set', async () => {
    for (const [part, lifeMs, ...expected] of [
      ['g60 5 0;', 60_000, 'g60 5 0;', 60_000],
      ['f60 7 0;', 1_000, 'g60 5 0;f60 7 0;', 60_000],
      ['g60 6 0;', 90_000, 'f60 7 0;g60 6 0;', 90_000],
    ] as const) {
      await put(part, lifeMs);
      expect(((await read()) as readonly unknown[]).slice(0, 2)).toEqual(expected);
    }
  });

  it('is neither read nor changed where another wrote it', async () => {
    const odd = async (value: string) => {
      await server.client.del(key);
      await (kind === 'hash' ? server.client.hset(key, 's', value) : server.client.set(key, value));
      await expect(read()).rejects.toThrow('not an integer');
      await expect(put('g60 5 0;', 1_000)).rejects.toThrow('not an integer');
    };
    await odd('x');
    await odd(`${'\0'.repeat(25)}x`);
  });
});

it('refuses to reset a hash that another wrote', async () => {
  const key = '{c:parts_odd~1}~r';
  await server.client.hset(key, 's', 'x');
  await expect(server.client.eval(RESET_RECORD, 1, key, 'hash')).rejects.toThrow('not an integer');
  expect(await server.client.hget(key, 's')).toBe('x');
});
