import type { BudgetLimiter } from '../../src/core/budgets/budget';
import type { BudgetOutcome } from '../../src/core/budgets/outcome';
import type { BudgetState, Reservation } from '../../src/core/kinds/kind';
import type { CounterReply, Increment } from '../../src/core/ports';
import { ask as askOf, slowRule } from '../support/algorithm-increments';
import { budgetEntry, budgetLimiterOf } from '../support/budget-arbitraries';
import { batch, freshKey, increment, type CountersUnderTest } from '../support/increments';

const YEAR = 31_536_000;
type Sort = Parameters<typeof budgetEntry>[0]['sort'];

const entry = (sort: Sort, limit: number, periodSeconds = YEAR) =>
  budgetEntry({ sort, limit, burst: limit, periodSeconds, chargeDenied: false });

const RESERVE = { leaseMs: 600_000, isReleased: false };
const BLOCK = { after: 2, withinMs: 60_000, forMs: 600_000, upToMs: 600_000, entry: -1 };

const limiterWith = (more: Partial<BudgetLimiter['budget']>): BudgetLimiter =>
  budgetLimiterOf({
    entries: [entry('window', 10), entry('sliding', 6), entry('gcra', 8)],
    reserve: undefined,
    blocks: [],
    isForced: false,
    isShadow: false,
    ...more,
  });

const LIST = limiterWith({});
const HELD = limiterWith({ reserve: RESERVE });
const SLOTS = limiterWith({ entries: [entry('slots', 2), entry('window', 100)], reserve: RESERVE });
const BLOCKING = limiterWith({ blocks: [BLOCK] });

const keyOf = (name = freshKey('budget')): string => `{c:${name}~1}~c`;

const ask = (
  limiter: BudgetLimiter,
  key: string,
  hits: number,
  more: Partial<Increment> = {},
): Increment => increment(key, hits, { limiter: limiter, ...more });

const reserve = (limiter: BudgetLimiter, key: string, id: string, hits: number): Increment =>
  ask(limiter, key, hits, { reservation: { mode: 'reserve', id, saysHits: true } });

const settle = (limiter: BudgetLimiter, key: string, id: string, hits?: number): Increment => {
  const reservation: Reservation = { mode: 'settle', id, saysHits: hits !== undefined };
  return ask(limiter, key, hits ?? 1, { reservation });
};

/** What a reply says to an increment that was not held back. */
const outcomeOf = (one: Increment, { states }: CounterReply, at: number): BudgetOutcome => {
  const state = states?.[at] as BudgetState;
  const { kind } = one.limiter;
  return kind.outcome(one, state, Number(one.hits), 0, batch([]).nowSeconds) as BudgetOutcome;
};

/** What a store keeps that knows budgets (budgets.md). */
export function describeBudgets(store: () => CountersUnderTest): void {
  const add = (increments: readonly Increment[], groupEnds?: readonly number[]) =>
    store().counters.add(batch(increments, groupEnds));

  const play = async (increments: readonly Increment[], groupEnds?: readonly number[]) => {
    const reply = await add(increments, groupEnds);
    expect(reply.failures).toBeUndefined();
    return increments.map((one, at) =>
      reply.held?.[at] === true ? 'held back' : outcomeOf(one, reply, at),
    );
  };
  const isOver = (outcomes: Awaited<ReturnType<typeof play>>) =>
    outcomes.map((one) => (one === 'held back' ? one : one.isOver));

  describe('budgets', () => {
    it('charge all limits of a list or, where one refuses, none', async () => {
      const key = keyOf();
      expect(isOver(await play([4, 2, 1, -3, 2, 2].map((hits) => ask(LIST, key, hits))))).toEqual([
        false,
        false,
        true,
        false,
        false,
        true,
      ]);
      const [looked] = await play([ask(LIST, key, 0)]);
      expect(looked).toMatchObject({
        entries: [{ remaining: 5 }, { remaining: 1 }, { remaining: 3 }],
      });
    });

    it('admit as many of equal asks as fit, beside counts and other kinds', async () => {
      const [key, other] = [keyOf(), freshKey()];
      const gcra = slowRule('gcra');
      const reply = await add([
        ask(LIST, key, 2, { times: 5 }),
        increment(other, 3),
        askOf(gcra, freshKey(), 4),
        ask(LIST, key, 1),
      ]);
      expect([reply.failures, reply.after[1]]).toEqual([undefined, 3]);
      expect((reply.states?.[3] as BudgetState).entries[1]).toMatchObject({ used: 6 });
      expect(reply.states?.[1]).toBeUndefined();
    });

    it('hold what is reserved until it is settled, once', async () => {
      const key = keyOf();
      expect(
        isOver(
          await play([
            reserve(HELD, key, 'a', 4),
            reserve(HELD, key, 'b', 3),
            reserve(HELD, key, 'a', 4),
            ask(HELD, key, 2),
            ask(HELD, key, 1),
          ]),
        ),
      ).toEqual([false, true, false, false, true]);
      const settled = await play([
        settle(HELD, key, 'a', 1),
        settle(HELD, key, 'a', 1),
        settle(HELD, key, 'b', 1),
        reserve(HELD, key, 'c', 0),
        settle(HELD, key, 'c'),
        ask(HELD, key, 0),
      ]);
      expect(settled).toMatchObject([
        { settled: 1 },
        { settled: -1 },
        { settled: -1 },
        { reserved: 0 },
        { settled: 0 },
        { entries: [{ remaining: 7 }, { remaining: 3 }, {}] },
      ]);
    });

    it('end with nothing what its caller left, unless another call met it', async () => {
      const key = keyOf();
      const cancel = (id: string) =>
        ask(HELD, key, 0, { reservation: { mode: 'cancel', id, saysHits: false } });
      await play([reserve(HELD, key, 'x', 2), reserve(HELD, key, 'y', 2)]);
      await play([reserve(HELD, key, 'x', 2), cancel('x'), cancel('y')]);
      const [settled, looked] = await play([settle(HELD, key, 'x'), ask(HELD, key, 0)]);
      expect(settled).toMatchObject({ settled: 2 });
      expect(looked).toMatchObject({ entries: [{ remaining: 8 }, {}, {}] });
    });

    it('never give more slots than there are', async () => {
      const key = keyOf();
      const many = await Promise.all(
        Array.from({ length: 20 }, (_, at) => play([reserve(SLOTS, key, String(at), 1)])),
      );
      expect(many.filter(([one]) => one !== 'held back' && one?.isOver === false)).toHaveLength(2);
    });

    it('refuse everything while a block lasts that refusals began', async () => {
      const key = keyOf();
      await play([ask(BLOCKING, key, 6)]);
      const [first, second] = await play([ask(BLOCKING, key, 1), ask(BLOCKING, key, 1)]);
      expect([first, second]).toMatchObject([{ blocksBegun: 0 }, { blocksBegun: 1 }]);
      const [blocked, given] = await play([ask(BLOCKING, key, 1), ask(BLOCKING, key, -6)]);
      expect([blocked, given]).toMatchObject([{ isOver: true, blockedHits: 1 }, {}]);
      expect(isOver(await play([ask(BLOCKING, key, 1)]))).toEqual([true]);
    });

    it('charge and hold nothing of a request that one of its limits refuses, and settle it', async () => {
      const [list, held, plain, blocking] = [keyOf(), keyOf(), freshKey(), keyOf()];
      await play([ask(LIST, list, 6), reserve(HELD, held, 'a', 3), ask(BLOCKING, blocking, 6)]);
      const run = [
        ask(LIST, list, 1),
        reserve(HELD, held, 'b', 1),
        settle(HELD, held, 'a', 2),
        ask(BLOCKING, blocking, 0),
        increment(plain, 1, { limit: 5 }),
        askOf(slowRule('gcra'), freshKey(), 1),
      ];
      const reply = await add(run, [run.length]);
      expect(reply.failures).toBeUndefined();
      expect(reply.held).toEqual([false, true, false, true, true, true]);
      const looks = [ask(HELD, held, 0), increment(plain, 0)];
      const looked = await add(looks);
      expect(looked.states?.[0]).toMatchObject({ held: 0, open: 0 });
      expect(looked.after[1]).toBe(0);
      const [entries] = await play([ask(HELD, held, 0)]);
      expect(entries).toMatchObject({ entries: [{ remaining: 8 }, {}, {}] });
    });

    it('hold nobody back for hits that are given back while a block lasts', async () => {
      const [blocking, list] = [keyOf(), keyOf()];
      await play([6, 1, 1].map((hits) => ask(BLOCKING, blocking, hits)));
      const given = [ask(BLOCKING, blocking, -1), ask(LIST, list, 1)];
      expect(isOver(await play(given, [given.length]))).toEqual([false, false]);
    });

    it('hold nobody back where a rule refuses no request by itself', async () => {
      const [list, plain, other] = [keyOf(), freshKey(), freshKey()];
      await play([ask(LIST, list, 6)]);
      const aside = { holdsBack: false } as const;
      const asked = [
        ask(LIST, list, 1, aside),
        increment(plain, 3),
        increment(other, 3, { limit: 2, ...aside }),
      ];
      const reply = await add(asked, [1, 3].slice(1));
      expect([reply.held, reply.failures, reply.after.slice(1)]).toEqual([
        undefined,
        undefined,
        [3, 3],
      ]);
    });
  });
}
