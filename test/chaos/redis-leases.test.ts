import { MAX_OPEN } from '../../src/core/budgets/budget';
import type { BudgetState } from '../../src/core/kinds/kind';
import type { ScriptIncrement } from '../../src/counters/redis/operations-call';
import { budgetEntry, budgetLimiterOf } from '../support/budget-arbitraries';
import { callBudgets } from '../support/budget-call';
import { expectFigure } from '../support/edge/figure';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';

jest.setTimeout(120_000);

const START_MS = 1_700_000_040_000;
const LEASE_MS = 600_000;
const KEY = '{c:everybody~1}~r';
const PER_CALL = 2_000;

const GATE = budgetLimiterOf({
  entries: (['window', 'gcra'] as const).map((sort) =>
    budgetEntry({
      sort,
      limit: 50_000_000,
      periodSeconds: 86_400,
    }),
  ),
  reserve: { leaseMs: LEASE_MS, isReleased: false },
});

let server: RedisServer;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

const ask = (hits: number, id?: string): ScriptIncrement => ({
  key: KEY,
  hits,
  times: 1,
  ttlSeconds: 0,
  limiter: GATE,
  reservation: id === undefined ? undefined : { mode: 'reserve', id, saysHits: true },
});

const call = async (increments: readonly ScriptIncrement[], nowMs: number) => {
  const when = { nowMs, nowSeconds: nowMs / 1_000 };
  const { states, failures } = await callBudgets(server.client, increments, when);
  expect(failures).toBeUndefined();
  return states as readonly BudgetState[];
};

it('ends 100,000 leases little by little, each charged once, and takes no more', async () => {
  for (let first = 0; first < MAX_OPEN; first += PER_CALL)
    await call(
      Array.from({ length: PER_CALL }, (_, at) => ask(1, `id-${String(first + at)}`)),
      START_MS,
    );
  const [full] = await call([ask(1, 'one-more')], START_MS + 1);
  expect(full).toMatchObject({ open: MAX_OPEN, held: MAX_OPEN });
  const [unopened] = await call([ask(0)], START_MS + 1);
  expect(unopened?.open).toBe(MAX_OPEN);

  const tookMs: number[] = [];
  let lapsed = 0;
  for (let open = MAX_OPEN; open > 0;) {
    const startedMs = performance.now();
    const [state] = (await call([ask(0)], START_MS + LEASE_MS)) as [BudgetState];
    tookMs.push(performance.now() - startedMs);
    expect(state.lapsed).toBeGreaterThan(0);
    lapsed += state.lapsed;
    ({ open } = state);
  }
  expect([lapsed, tookMs.length]).toEqual([MAX_OPEN, MAX_OPEN / 250]);
  const [last] = await call([ask(0)], START_MS + LEASE_MS);
  expect(last).toMatchObject({ held: 0, open: 0, entries: [{ used: MAX_OPEN }, {}] });
  expect(await server.client.keys('*')).toEqual([KEY]);
  const median = tookMs.sort((a, b) => a - b)[tookMs.length >> 1] ?? NaN;
  if (process.env['WEIR_SHOW'] !== undefined) console.log('median ms', median);
  expectFigure({ name: 'call that ends 250 leases', value: median, unit: 'ms', below: 5 });
});
