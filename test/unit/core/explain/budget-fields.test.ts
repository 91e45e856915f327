import { budgetFields } from '../../../../src/core/explain/limit-fields';
import type { KeyRules, RuleLimit } from '../../../../src/core/rules/rules';
import { createMemoryCounters } from '../../../../src/counters/memory/create-memory-counters';
import { budgetOf, inFlight } from '../../../support/budgets';
import { createDecider } from '../../../support/decider';
import { descriptor, request } from '../../../support/requests';
import { rulesOf } from '../../../support/rules';

const START = 1_795_240_800;

const rules = rulesOf('d', [
  {
    key: 'k',
    ...budgetOf([{ unit: 'MINUTE', requestsPerUnit: 10 }, inFlight(2)], {
      reserve: {},
      block: { after: 2, withinMs: 60_000, forMs: 30_500 },
    }),
  },
  { key: 'plain', limit: [10, 'MINUTE'] },
]);

function limitOf(key: string): RuleLimit {
  const top = rules.domains.get('d')?.top as Map<string, KeyRules>;
  return top.get(key)?.anyValue?.limit as RuleLimit;
}

it('says what is left of each limit, what is held and open, and for how long it is blocked', async () => {
  let now = START;
  const clock = () => now;
  const counters = createMemoryCounters({ clock });
  const decide = createDecider({ rules: { current: rules }, counters, clock });
  const read = () => counters.read('{c:d_k_v~1}~r', clock(), limitOf('k').limiter) ?? {};
  await decide(request('d', [descriptor(['k=v', 'reserve=a'], { hits: 4 })]));
  expect(budgetFields(limitOf('k'), read(), START)).toEqual({
    limits: [
      { name: 'minute', remaining: 6, resetSeconds: 60 },
      { name: 'in_flight', remaining: 1, resetSeconds: 0 },
    ],
    held: 4,
    open: 1,
    oldestSeconds: 0,
  });
  now += 7;
  await decide(request('d', [descriptor(['k=v', 'reserve=b'], { hits: 1 })]));
  expect(budgetFields(limitOf('k'), read(), now)).toMatchObject({ open: 2, oldestSeconds: 7 });
  await decide(request('d', [descriptor(['k=v', 'settle=a'], { hits: 4 })]));
  expect(budgetFields(limitOf('k'), read(), now)).toMatchObject({ open: 1, oldestSeconds: 0 });
  await decide(request('d', [descriptor('k=v', { hits: 7 })]));
  expect(budgetFields(limitOf('k'), read(), now)).toMatchObject({ strikes: 1 });
  await decide(request('d', [descriptor('k=v', { hits: 7 })]));
  expect(budgetFields(limitOf('k'), read(), now)).toMatchObject({ blockedSeconds: 31 });
});

it('says nothing of rules of one limit, and of what could not be read', () => {
  expect(budgetFields(limitOf('plain'), {}, START)).toBeUndefined();
  expect(budgetFields(limitOf('k'), {}, START)).toBeUndefined();
});
