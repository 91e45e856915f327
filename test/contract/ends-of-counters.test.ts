import type { BudgetLimiter } from '../../src/core/budgets/budget';
import type { BudgetState, CounterState, Reservation, State } from '../../src/core/kinds/kind';
import type { AlgorithmName } from '../../src/core/kinds/kinds';
import type { RuleLimit } from '../../src/core/rules/rules';
import type { ScriptIncrement, OperationsReply } from '../../src/counters/redis/operations-call';
import { listOpen } from '../../src/counters/redis/open-reservations';
import { budgetEntry, budgetLimiterOf } from '../support/budget-arbitraries';
import { callBudgets } from '../support/budget-call';
import { limiterOf } from '../support/limiters';
import { describeWithStores, nearRedis, type NearRedis } from '../support/near-stores';

/*
 * Ends: what a wrong clock wrote is believed for no longer than its kind may last, and leases that are over are found and ended
 * in small pieces, however many there are.
 */

const START_MS = 1_700_000_040_000;
const AHEAD_MS = 400 * 86_400_000;
const LEASE_MS = 60_000;
const SLACK_MS = 16_000;

let server: NearRedis;
let serial = 0;
beforeAll(async () => {
  server = await nearRedis(START_MS / 1_000);
});
afterAll(() => server.client.quit());

const freshKey = (): string => `{c:ends_${String((serial += 1))}~1}~r`;

const call = async (
  increments: readonly ScriptIncrement[],
  nowMs: number,
): Promise<OperationsReply> => {
  const reply = await callBudgets(server.client, increments, { nowMs, nowSeconds: nowMs / 1_000 });
  expect(reply.failures).toBeUndefined();
  return reply;
};

const ask = (
  key: string,
  limiter: ScriptIncrement['limiter'],
  hits: number,
  reservation?: Pick<Reservation, 'mode' | 'id'>,
): ScriptIncrement => ({
  ...{ key, hits, times: 1, ttlSeconds: 3_600, limiter },
  reservation: reservation && { ...reservation, saysHits: true },
});

const budget = (
  entries: BudgetLimiter['budget']['entries'],
  more: Partial<BudgetLimiter['budget']> = {},
): BudgetLimiter => budgetLimiterOf({ entries, ...more });

type Sort = Parameters<typeof budgetEntry>[0]['sort'];
const entry = (sort: Sort, limit: number, periodSeconds = 60) =>
  budgetEntry({ sort, limit, periodSeconds });

const RESERVE = { leaseMs: LEASE_MS, isReleased: false };
const SLOTS = budget([entry('slots', 2)], { reserve: RESERVE });

const isRefused = (one: ScriptIncrement, states: readonly (State | undefined)[]): boolean =>
  one.limiter.kind.refuses({ ...one, windowEndSeconds: 0 }, states[0] as State);

describeWithStores('a clock that was 400 days ahead for one call', () => {
  const kind = (name: AlgorithmName, limit: number) =>
    limiterOf({ name, limit, burst: undefined, chargeDenied: false, periodSeconds: 60 });

  it.each([
    ['gcra', kind('gcra', 5), 60_000],
    ['a small sliding window', kind('sliding_window', 5), 60_000],
    ['a large sliding window', kind('sliding_window', 100), 120_000],
    ['a list of windows', budget([entry('window', 5), entry('window', 9, 10)]), 60_000],
    ['a list of both', budget([entry('gcra', 5), entry('sliding', 7)]), 60_000],
    [
      'a block',
      budget([entry('window', 5)], {
        blocks: [{ after: 1, withinMs: 60_000, forMs: 30_000, upToMs: 30_000, entry: -1 }],
      }),
      60_000,
    ],
    ['reservations', budget([entry('window', 5)], { reserve: RESERVE }), LEASE_MS + 60_000],
    ['slots', SLOTS, LEASE_MS],
  ] as const)('refuses for no longer than it may: %s', async (_, limiter, mostMs) => {
    const key = freshKey();
    const isReserving = 'budget' in limiter && limiter.budget.reserve !== undefined;
    const one = (id: string): ScriptIncrement =>
      ask(key, limiter, 1, isReserving ? { mode: 'reserve', id } : undefined);
    const fill = Array.from({ length: limiter.size + 1 }, (__, at) => one(`ahead${String(at)}`));
    await call(fill, START_MS + AHEAD_MS);
    let [nowMs, mended] = [START_MS, 0];
    for (;;) {
      const operation = one(`now${String(nowMs)}`);
      const reply = await call([operation], nowMs);
      mended += reply.mended;
      if (!isRefused(operation, reply.states)) break;
      expect(nowMs - START_MS).toBeLessThanOrEqual(mostMs + SLACK_MS);
      nowMs += 1_000;
    }
    expect(mended).toBeGreaterThan(0);
  });
});

describeWithStores('leases that are over', () => {
  it('are found behind 40,000 settled reservations by the next few calls', async () => {
    const key = freshKey();
    await call([ask(key, SLOTS, 1, { mode: 'reserve', id: 'first' })], START_MS);
    for (let at = 0; at < 40_000; at += 500) {
      const some = Array.from({ length: 500 }, (_, more) => `id${String(at + more)}`);
      const opened = some.flatMap((id) =>
        (['reserve', 'settle'] as const).map((mode) => ask(key, SLOTS, 1, { mode, id })),
      );
      await call(opened, START_MS + 1_000);
    }
    await call([ask(key, SLOTS, 1, { mode: 'reserve', id: 'last' })], START_MS + 2_000);
    const sent: (readonly string[])[] = [];
    const sender = {
      send: (_: string, commands: readonly (readonly string[])[]) => {
        sent.push(...commands);
        return Promise.all(
          commands.map(([name = '', ...rest]) => server.client.call(name, ...rest)),
        );
      },
    };
    await listOpen(sender, { key, rule: { limiter: SLOTS } as unknown as RuleLimit }, 1_000);
    // Each passes 2,000 numbers at most.
    expect(sent.length).toBe(21);
    let calls = 0;
    for (let isOver = true; isOver; calls += 1) {
      const operation = ask(key, SLOTS, 1, { mode: 'reserve', id: `next${String(calls)}` });
      const { states } = await call([operation], START_MS + 2_000 + LEASE_MS);
      isOver = isRefused(operation, states);
    }
    expect(calls).toBeLessThanOrEqual(5);
  });

  it('are ended 250 in a call, however many counters it meets', async () => {
    const keys = Array.from({ length: 256 }, freshKey);
    const limiter = budget([entry('window', 100, 3_600)], { reserve: RESERVE });
    for (const id of ['a', 'b', 'c', 'd'])
      await call(
        keys.map((key) => ask(key, limiter, 1, { mode: 'reserve', id })),
        START_MS,
      );
    const ended: number[] = [];
    do {
      const { states } = await call(
        keys.map((key) => ask(key, limiter, 0)),
        START_MS + LEASE_MS,
      );
      ended.push(states.reduce((sum, one) => sum + (one as BudgetState).lapsed, 0));
    } while (ended.at(-1) !== 0);
    expect(ended).toEqual([250, 250, 250, 250, 24, 0]);
    const { states } = await call(
      keys.map((key) => ask(key, limiter, 0)),
      START_MS + LEASE_MS,
    );
    const used = states.map((one) => (one as BudgetState).entries[0] as CounterState);
    expect(used.every((one) => one.used === 4)).toBe(true);
  });
});
