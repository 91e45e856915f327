import { unusedBudget } from '../../../src/core/budgets/advance';
import type { BudgetState, Reservation } from '../../../src/core/kinds/kind';
import type { Increment } from '../../../src/core/ports';
import { planHoldBack, type ReadCounters, stateName } from '../../../src/counters/hold-back';
import { budgetEntry, budgetLimiterOf } from '../../support/budget-arbitraries';
import { batch, increment, START_SECONDS } from '../../support/increments';

const GATE = budgetLimiterOf({
  entries: [budgetEntry({ sort: 'window', limit: 10, periodSeconds: 60 })],
  reserve: { leaseMs: 60_000, isReleased: false },
});
const KEY = '{c:k~1}~r';

const one = (mode: Reservation['mode'], id: string, hits: number, saysHits = true): Increment =>
  increment(KEY, hits, { limiter: GATE, reservation: { mode, id, saysHits } });
const plain = (name: string): Increment => increment(name, 1);

/** `b` holds 5 of 10. */
const read = (...all: readonly Increment[]): ReadCounters => {
  const unused = unusedBudget(GATE.budget, {
    micros: START_SECONDS * 1_000_000,
    nowSeconds: START_SECONDS,
  });
  const states = all
    .filter(({ key }) => key === KEY)
    .map((each): [string, BudgetState] => {
      const was = each.reservation?.id === 'b' ? 5 : -1;
      return [stateName(each), { ...unused, held: 5, open: 1, was }];
    });
  return { counts: new Map(), states: new Map(states) };
};

/** Which increments are held back, each request being two of them. */
const heldOf = (...all: readonly Increment[]): readonly number[] => {
  const ends = all.flatMap((_, at) => (at % 2 === 1 ? [at + 1] : []));
  return [...planHoldBack(batch(all, ends), read(...all)).keys()];
};

describe('counters that were read before a batch', () => {
  it('know an open reservation that is tried again after another one of the same counter', () => {
    expect(heldOf(one('reserve', 'a', 5), plain('x'), one('reserve', 'b', 5), plain('y'))).toEqual(
      [],
    );
    expect(heldOf(one('reserve', 'a', 5), plain('x'), one('reserve', 'c', 5), plain('y'))).toEqual([
      3,
    ]);
  });

  it('end what a batch itself has opened, and that once', () => {
    const opened = [one('reserve', 'a', 5), plain('x')];
    const ended = [one('settle', 'a', 0), plain('y')];
    const next = [one('reserve', 'c', 5), plain('z')];
    expect(heldOf(...opened, ...next)).toEqual([3]);
    expect(heldOf(...opened, ...ended, ...next)).toEqual([]);
    const more = [one('reserve', 'd', 1), plain('w')];
    expect(heldOf(...opened, ...ended, ...ended, ...next, ...more)).toEqual([9]);
  });

  it('charge what was held of a settlement without hits, of its own reservation', () => {
    const settled = [one('settle', 'b', 1, false), plain('x')];
    expect(heldOf(...settled, one('reserve', 'c', 6), plain('y'))).toEqual([3]);
    expect(heldOf(...settled, one('reserve', 'c', 5), plain('y'))).toEqual([]);
  });
});
