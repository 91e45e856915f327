import { MAX_OPEN } from '../../../../src/core/budgets/budget';
import { chargeOf, judge, type BudgetCharge } from '../../../../src/core/budgets/judge';
import type { Reservation } from '../../../../src/core/kinds/kind';
import type { BlockState } from '../../../../src/core/kinds/state';
import { blockFor, limiterOfLimits, standing } from '../../../support/budget-limiters';
import { inFlight } from '../../../support/budgets';
import { SOME_MATCH } from '../../../support/rules';

const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const { budget } = limiterOfLimits([{ ...minute, block: {} }, inFlight(2)], {
  block: { after: 1 },
});
const MODES = ['charge', 'reserve', 'settle', 'cancel'] as const;
const judged = (used: number, charge: BudgetCharge, changes: Parameters<typeof standing>[2] = {}) =>
  judge(budget, standing(budget, [used], changes), charge);

describe('an ask', () => {
  it.each([
    ['fits what neither hits nor reservations take', 3, 'charge', 5, []],
    ['does not fit beside what is held', 4, 'charge', 5, [0]],
    ['of no hits fits what is full', 0, 'charge', 8, []],
    ['of no hits meets a debt', 0, 'charge', 9, [0]],
    ['that reserves nothing needs something left', 0, 'reserve', 8, [0]],
    ['that reserves nothing fits where one hit is left', 0, 'reserve', 7, []],
  ] as const)('%s', (_, hits, mode, used, refusing) => {
    const judgement = judged(used, { hits, mode }, { held: 2 });
    expect(judgement).toEqual({ isOver: refusing.length > 0, refusing, block: -1 });
  });

  it.each([
    [1, 'reserve', []],
    [2, 'reserve', [1]],
    [2, 'charge', []],
  ] as const)('that finds %i of 2 slots taken and would %s', (open, mode, refusing) => {
    expect(judged(0, { hits: 1, mode }, { open }).refusing).toEqual(refusing);
  });

  it.each([
    [MAX_OPEN - 1, 'reserve', false],
    [MAX_OPEN, 'reserve', true],
    [MAX_OPEN, 'charge', false],
  ] as const)('that finds %i reservations open and would %s', (open, mode, isOver) => {
    const slotless = limiterOfLimits([minute], { reserve: {} }).budget;
    const judgement = judge(slotless, standing(slotless, [0], { open }), { hits: 1, mode });
    expect(judgement).toEqual({ isOver, refusing: [], block: -1 });
  });

  it('is refused by a block whatever the limits say, unless it gives back or ends something', () => {
    const blocks = [blockFor(-1), blockFor(1)];
    const isOver = MODES.map((mode) => judged(0, { hits: 0, mode }, { blocks }).isOver);
    expect(isOver).toEqual([true, true, false, false]);
    expect(judged(11, { hits: 1, mode: 'charge' }, { blocks })).toMatchObject({
      refusing: [],
      block: 1,
    });
    expect(judged(0, { hits: -1, mode: 'charge' }, { blocks }).isOver).toBe(false);
  });

  it('is told of a block in shadow mode, and judged by the limits', () => {
    const shadow = limiterOfLimits([{ ...minute, block: {} }], { block: {} }, { shadowMode: true });
    const ofUsed = (used: number, ...blocks: readonly BlockState[]) =>
      judge(shadow.budget, standing(shadow.budget, [used], { blocks }), {
        hits: 1,
        mode: 'charge',
      });
    const [none, lasts] = [blockFor(-1), blockFor(1)];
    expect(ofUsed(0, lasts, none)).toEqual({ isOver: false, refusing: [], block: 0 });
    expect(ofUsed(0, none, lasts)).toEqual({ isOver: false, refusing: [], block: 1 });
    expect(ofUsed(10, lasts, lasts)).toEqual({ isOver: true, refusing: [0], block: 0 });
  });

  it('that ends a reservation or is tried again while it is open is never refused', () => {
    const overOf = (was: number) =>
      MODES.map((mode) => judged(20, { hits: 1, mode }, { was, open: 2 }).isOver);
    expect(overOf(-1)).toEqual([true, true, false, false]);
    // One that holds nothing is open too; a look at it is judged as any other.
    expect(overOf(0)).toEqual([true, false, false, false]);
  });
});

describe('what an increment asks', () => {
  const askFor = (hits: number, was: number, reservation?: Omit<Reservation, 'id'>) =>
    chargeOf(
      {
        ...{ limiter: limiterOfLimits([minute]), hits, times: 1, windowEndSeconds: 0 },
        ...SOME_MATCH,
        reservation: reservation && { ...reservation, id: 'a' },
      },
      standing(budget, [0], { was }),
      hits,
    );

  it.each([
    ['hits at once', 3, undefined, { hits: 3, mode: 'charge' }],
    ['hits that are given back', -3, undefined, { hits: -3, mode: 'charge' }],
    ['to hold hits', 3, { mode: 'reserve', saysHits: true }, { hits: 3, mode: 'reserve' }],
    [
      'to hold nothing below 0',
      -3,
      { mode: 'reserve', saysHits: true },
      { hits: 0, mode: 'reserve' },
    ],
    [
      'to charge hits of its own',
      3,
      { mode: 'settle', saysHits: true },
      { hits: 3, mode: 'settle' },
    ],
    [
      'to charge what was held',
      3,
      { mode: 'settle', saysHits: false },
      { hits: 7, mode: 'settle' },
    ],
    ['to charge nothing', 3, { mode: 'cancel', saysHits: true }, { hits: 0, mode: 'cancel' }],
    ['to look', 3, { mode: 'read', saysHits: true }, { hits: 0, mode: 'charge' }],
  ] as const)('is %s', (_, hits, reservation, ask) => {
    expect(askFor(hits, 7, reservation)).toEqual(ask);
  });

  it('is to charge nothing where nothing was held', () => {
    expect(askFor(3, -1, { mode: 'settle', saysHits: false }).hits).toBe(0);
  });
});
