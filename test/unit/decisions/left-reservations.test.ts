import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import type { CounterBatch, Responder } from '../../../src/core/ports';
import { createDecideBatch } from '../../../src/decisions/decide-batch';
import { budgetOf } from '../../support/budgets';
import { createDecider, decisionOf, PLAIN_DECISIONS } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { rulesOf } from '../../support/rules';

/** A reservation whose caller does not hear its answer. What others do is in test/scenarios/reservations.txt. */

const clock = () => 1_795_240_800;

const RESERVE = request('d', [descriptor(['tokens=v', 'reserve=a'], { hits: 4 })]);

function setUp() {
  const counters = createMemoryCounters({ clock });
  const tokens = budgetOf([{ unit: 'MINUTE', requestsPerUnit: 10 }], { reserve: {} });
  const rules = { current: rulesOf('d', [{ key: 'tokens', ...tokens }]) };
  const decide = createDecider({ rules, counters, clock });
  const leftAfter = async (asked = request('d', [descriptor('tokens=v', { hits: 0 })])) =>
    decisionOf((await decide(asked)).answers[0]).statuses[0]?.limitRemaining;

  /** A reserve whose caller is gone when its answer comes; `meanwhile`: after the store has held its hits. */
  const reserveAndGo = async (
    hasLeft: () => boolean,
    meanwhile: () => Promise<unknown> = () => Promise.resolve(),
  ) => {
    const batches: CounterBatch[] = [];
    const decideBatch = createDecideBatch(
      {
        rules,
        counters: {
          async add(batch) {
            const reply = await counters.add(batch);
            if (batches.push(batch) === 1) await meanwhile();
            return reply;
          },
        },
        clock,
        random: () => 0,
        onFault: (error) => {
          throw error;
        },
      },
      PLAIN_DECISIONS,
    );
    const responder: Responder = { answer: () => false, hasLeft };
    const { abandoned } = await decideBatch([{ request: RESERVE, responder, callId: 1 }]);
    return { abandoned, batches: batches.length };
  };
  return { counters, leftAfter, reserveAndGo };
}

it('ends uncharged when its caller left before its answer', async () => {
  const { leftAfter, reserveAndGo } = setUp();
  let isGone = false;
  const leave = () => {
    isGone = true;
    return Promise.resolve();
  };
  expect(await reserveAndGo(() => isGone, leave)).toEqual({ abandoned: 1, batches: 2 });
  expect(await leftAfter()).toBe(10);
});

it('stays when its caller waited until its time was over: the request goes on, and will be settled', async () => {
  const { leftAfter, reserveAndGo } = setUp();
  expect(await reserveAndGo(() => false)).toEqual({ abandoned: 1, batches: 1 });
  expect(await leftAfter()).toBe(6);
});

it('is not sent when its caller has left before', async () => {
  const { counters, reserveAndGo } = setUp();
  expect(await reserveAndGo(() => true)).toEqual({ abandoned: 1, batches: 0 });
  expect(counters.liveKeys).toBe(0);
});

it('stays when another call with its id was answered before its first caller left', async () => {
  const { leftAfter, reserveAndGo } = setUp();
  let isGone = false;
  const meetAndLeave = async () => {
    expect(await leftAfter(RESERVE)).toBe(6);
    isGone = true;
  };
  expect(await reserveAndGo(() => isGone, meetAndLeave)).toEqual({ abandoned: 1, batches: 2 });
  expect(await leftAfter()).toBe(6);
});
