import type { BudgetLimiter } from '../../src/core/budgets/budget';
import { gcra } from '../../src/core/kinds/gcra';
import type { CounterState, State } from '../../src/core/kinds/kind';
import type { ScriptIncrement } from '../../src/counters/redis/operations-call';
import { budgetEntry, budgetLimiterOf } from '../support/budget-arbitraries';
import { callBudgets } from '../support/budget-call';
import { describeWithStores, nearRedis, type NearRedis } from '../support/near-stores';
import { limiterOf } from '../support/limiters';

/** What a request charged together takes back comes from the window that was charged (budgets.md section 7). */

/** Seconds: longer periods do not end before the answer to a charge. */
const PERIOD = 1;
/** A second, a minute and an hour begin a tenth of a second later. */
const BEFORE_MS = 1_795_240_799_900;

let server: NearRedis;
let serial = 0;
beforeAll(async () => {
  server = await nearRedis(BEFORE_MS / 1_000);
});
afterAll(() => server.client.quit());

const kind = (name: 'gcra' | 'sliding_window', limit: number) =>
  limiterOf({ name, limit, burst: undefined, chargeDenied: false, periodSeconds: PERIOD });

const list = (...sorts: readonly (readonly ['window' | 'gcra' | 'sliding', number])[]) => {
  const entries = sorts.map(([sort, limit]) => budgetEntry({ sort, limit, periodSeconds: PERIOD }));
  return budgetLimiterOf({ entries });
};

const CASES: readonly (readonly [string, ScriptIncrement['limiter'] | BudgetLimiter])[] = [
  ['gcra', kind('gcra', 10)],
  ['a small sliding window', kind('sliding_window', 10)],
  ['a large sliding window', kind('sliding_window', 100)],
  ['a list of a window', list(['window', 10])],
  ['a list of gcra', list(['gcra', 10])],
  ['a list of a small sliding window', list(['sliding', 10])],
  ['a list of a large sliding window', list(['sliding', 100])],
  ['a list of all', list(['window', 9], ['gcra', 10], ['sliding', 100])],
];

describeWithStores.each(CASES)('%s', (_, limiter) => {
  const increment = (key: string, hits: number, undoOfMicros?: number): ScriptIncrement => ({
    ...{ key, hits, times: 1, ttlSeconds: PERIOD, limiter, reservation: undefined },
    undoOfMicros,
  });

  /** One call; `plannedMs`: when the process planned it, which may be earlier. */
  const call = async (one: ScriptIncrement, nowMs: number, plannedMs = nowMs): Promise<State> => {
    const when = { nowMs, nowSeconds: plannedMs / 1_000 };
    const reply = await callBudgets(server.client, [one], when);
    expect(reply.failures).toBeUndefined();
    return reply.states[0] as State;
  };

  const entriesOf = (state: State): readonly CounterState[] =>
    'entries' in state ? state.entries : [state];
  /** Of gcra: what drained since the charge may count once more, as of another hit. */
  const spares = ('budget' in limiter ? limiter.budget.entries : [{ limiter }]).map((one) =>
    one.limiter.kind === gcra ? one.limiter.drain / one.limiter.tickMicros : 0,
  );

  it.each([0, 60, 200, 900, 1_050, 1_200, 2_300])(
    'loses what was charged %d ms before, and nothing that others were charged since',
    async (laterMs) => {
      const nowMs = BEFORE_MS + laterMs;
      const key = (of: string) => `{c:undo_${of}_${String((serial += 1))}~1}~c`;
      const [undone, never] = [key('undone'), key('never')];
      for (const each of [undone, never]) await call(increment(each, 2), BEFORE_MS - 50);
      const { atMicros } = await call(increment(undone, 3), BEFORE_MS);
      for (const each of [undone, never]) await call(increment(each, 4), nowMs);
      await call(increment(undone, -3, atMicros), nowMs, BEFORE_MS);
      const left = entriesOf(await call(increment(undone, 0), nowMs));
      const expected = entriesOf(await call(increment(never, 0), nowMs));
      expect(left.map(({ previous }) => previous)).toEqual(
        expected.map(({ previous }) => previous),
      );
      for (const [at, { used }] of left.entries()) {
        const most = Math.round((spares[at] ?? 0) * laterMs * 1_000);
        expect(used - (expected[at]?.used ?? 0)).toBeGreaterThanOrEqual(0);
        expect(used - (expected[at]?.used ?? 0)).toBeLessThanOrEqual(most);
      }
    },
  );
});
