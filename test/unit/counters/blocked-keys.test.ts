import type { BudgetLimiter } from '../../../src/core/budgets/budget';
import type { Increment } from '../../../src/core/ports';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { createOverLimitCache } from '../../../src/counters/over-limit-cache';
import { forgettingBlocked, withBlockedKeys } from '../../../src/counters/with-over-limit-cache';
import { budgetEntry, budgetLimiterOf } from '../../support/budget-arbitraries';
import { limiterOf } from '../../support/limiters';
import { SOME_LIMIT, SOME_MATCH } from '../../support/rules';
import { runSteps } from '../../support/run-steps';

const NOW = 1_795_240_200;
const BLOCK = { after: 2, withinMs: 60_000, forMs: 600_000, upToMs: 600_000, entry: -1 };

const limiterWith = (periods: readonly number[], more: Partial<BudgetLimiter['budget']> = {}) =>
  budgetLimiterOf({
    entries: periods.map((periodSeconds) =>
      budgetEntry({ sort: 'window', limit: 2, periodSeconds }),
    ),
    blocks: [BLOCK],
    ...more,
  });

const GATE = limiterWith([60]);
const PLAIN = limiterOf({ name: 'gcra', limit: 2, periodSeconds: 60 });

const of = (key: string, more: Partial<Increment> = {}): Increment => ({
  key,
  hits: 1,
  times: 1,
  limit: 2,
  limiter: GATE,
  ttlSeconds: 60,
  windowEndSeconds: NOW + 60,
  ...SOME_MATCH,
  ...more,
});

function setUp() {
  const store = createMemoryCounters({ clock: () => NOW });
  const asked: string[] = [];
  const cache = createOverLimitCache({}, { sizeBytes: 1_048_576 });
  let uses = 0;
  const counters = withBlockedKeys(
    {
      add(batch) {
        asked.push(...batch.increments.map(({ key }) => key));
        return store.add(batch);
      },
      close: () => store.close(),
    },
    cache,
    () => (uses += 1),
  );
  const add = async (increments: readonly Increment[], seconds = 0) => {
    const { knownOverLimit } = await counters.add({
      increments,
      groupEnds: undefined,
      nowSeconds: NOW + seconds,
    });
    return increments.map((_, at) => knownOverLimit?.[at] === true);
  };
  /** Two hits that fit, and two that are refused, of which the second begins a block. */
  const block = async (key: string, more: Partial<Increment> = {}) => {
    for (let at = 0; at < 4; at += 1) expect(await add([of(key, more)])).toEqual([false]);
    asked.length = 0;
  };
  return { asked, cache, add, block, uses: () => uses, close: () => counters.close() };
}

describe('counters of which blocked keys are known', () => {
  it('are asked for what is over, not for what is blocked, and again when the block has ended', async () => {
    const { add, asked, block, close } = setUp();
    await block('a');
    expect(await add([of('a'), of('b'), of('a', { hits: 5 })], 599)).toEqual([true, false, true]);
    expect(asked).toEqual(['b']);
    expect(await add([of('a')], 600)).toEqual([false]);
    expect(asked).toEqual(['b', 'a']);
    await close();
  });

  it('are asked once the block has ended, though the limit refuses for longer: the next block has to begin', async () => {
    const { add, asked, block, cache, close } = setUp();
    const limiter = limiterWith([86_400]);
    await block('a', { limiter });
    const listed = await runSteps(cache.list(NOW, 10));
    expect(listed.map(({ windowEndSeconds }) => windowEndSeconds - NOW)).toEqual([600]);
    expect(await add([of('a', { limiter })], 599)).toEqual([true]);
    // Two more refusals, of which the second begins the next one.
    expect(await add([of('a', { limiter })], 600)).toEqual([false]);
    expect(await add([of('a', { limiter })], 601)).toEqual([false]);
    expect(asked).toEqual(['a', 'a']);
    expect(await add([of('a', { limiter })], 602)).toEqual([true]);
    await close();
  });

  it('are asked for all that is of another rule, as if there were no cache', async () => {
    const { add, asked, block, uses, close } = setUp();
    const plain = { limiter: PLAIN };
    for (let at = 0; at < 5; at += 1) await add([of('p', plain)]);
    expect([asked.length, uses()]).toEqual([5, 0]);
    await block('a');
    expect(await add([of('p', plain), of('a')])).toEqual([false, true]);
    expect(asked).toEqual(['p']);
    expect(uses()).toBeGreaterThan(0);
    await close();
  });

  it('are asked again when the rule has been loaded again, with another list too', async () => {
    const { add, asked, block, close } = setUp();
    await block('a');
    expect(await add([of('a', { limiter: limiterWith([60, 3_600]) })])).toEqual([false]);
    expect(await add([of('a', { limiter: limiterWith([3_600]) })])).toEqual([false]);
    expect(asked).toEqual(['a', 'a']);
    await close();
  });

  it('are asked for looks, settlements and hits that are given back', async () => {
    const { add, asked, block, close } = setUp();
    const limiter = limiterWith([60], { reserve: { leaseMs: 1_000, isReleased: false } });
    await block('a', { limiter });
    const settle = { mode: 'settle', id: 'x', saysHits: false } as const;
    const rest = [{ hits: 0 }, { hits: -1 }, { reservation: settle }];
    expect(await add(rest.map((more) => of('a', { limiter, ...more })))).toEqual([
      ...[false, false, false],
    ]);
    expect(asked).toHaveLength(3);
    await close();
  });

  it('forget what one of a reset tells, and tell others of blocked keys alone', async () => {
    const { add, asked, block, cache, close } = setUp();
    await block('a');
    const told: string[] = [];
    const forget = forgettingBlocked(cache, (places) => {
      told.push(...places.map(({ key }) => key));
    });
    const place = (key: string, limiter: Increment['limiter']) => ({
      key,
      rule: { ...SOME_LIMIT, limiter },
      windowEndSeconds: NOW,
    });
    forget([place('a', PLAIN)]);
    expect([told, await add([of('a')])]).toEqual([[], [true]]);
    forget([place('p', PLAIN), place('a', GATE)]);
    expect([told, await add([of('a')])]).toEqual([['a'], [false]]);
    expect(asked).toEqual(['a']);
    await close();
  });
});
