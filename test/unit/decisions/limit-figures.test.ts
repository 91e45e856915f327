import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import type { DecisionOptions } from '../../../src/decisions/decide-batch';
import { budgetOf } from '../../support/budgets';
import { createDecider, decisionOf } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { rulesOf } from '../../support/rules';

const rules = rulesOf('d', [
  { key: 'plain', limit: { requestsPerUnit: 4, unit: 'HOUR', name: 'own' } },
  { key: 'quota', limit: [4, 'MINUTE'], quotaMode: true },
  { key: 'dark', limit: [1, 'HOUR'], shadowMode: true },
  {
    key: 'listed',
    ...budgetOf([
      { unit: 'MINUTE', requestsPerUnit: 3 },
      { unit: 'HOUR', requestsPerUnit: 9 },
    ]),
  },
]);

const policies = {
  policies: 'all',
  retryAfter: false,
  nearHeader: '',
  jitterPercent: 0,
  problemBody: false,
} as const;
const headers = { limit: 'L', remaining: 'R', reset: 'T' };

async function decide(texts: readonly string[], options: Partial<DecisionOptions>) {
  const clock = () => 3_600;
  const counters = createMemoryCounters({ clock });
  const decideOne = createDecider({ rules: { current: rules }, counters, clock }, options);
  const descriptors = texts.map((text) => {
    const [entry = '', hits = '1'] = text.split(' ');
    return descriptor(entry, { hits: Number(hits) });
  });
  return decisionOf((await decideOne(request('d', descriptors))).answers[0]);
}

it('tells callers that ask for figures each limit that can refuse', async () => {
  const { limits } = await decide(['none=a', 'plain=a 5', 'quota=a 1', 'dark=a 2', 'listed=a 2'], {
    policies: { ...policies, figures: true },
  });
  const plain = { name: 'own', metric: 'd.plain', limit: 4, unit: 'hour', remaining: 0 };
  expect(limits).toEqual([
    { ...plain, resetSeconds: 3_600, isOver: true, isQuota: false },
    expect.objectContaining({ metric: 'd.quota', limit: 4, isOver: false, isQuota: true }),
    expect.objectContaining({ metric: 'd.listed', limit: 3, unit: 'minute', remaining: 1 }),
    expect.objectContaining({ metric: 'd.listed', limit: 9, unit: 'hour', remaining: 7 }),
  ]);
});

it('tells others none', async () => {
  expect((await decide(['plain=a'], { policies })).limits).toBeUndefined();
  const noFigures = { ...policies, figures: false };
  expect((await decide(['plain=a'], { policies: noFigures })).limits).toBeUndefined();
});

it('lengthens the reset of the first three headers by the key of the counter', async () => {
  const resetOf = async (texts: readonly string[], jitterPercent: number) => {
    const options = { headers, policies: { ...policies, policies: 'off', jitterPercent } } as const;
    const { responseHeaders } = await decide(texts, options);
    return responseHeaders.map(({ key, value }) => `${key}=${value}`);
  };
  expect(await resetOf(['plain=a 4'], 0)).toEqual(['L=4', 'R=0', 'T=3600']);
  const [, , alone] = await resetOf(['plain=a 4'], 50);
  const seconds = Number(alone?.slice(2));
  expect(seconds).toBeGreaterThan(3_600);
  expect(seconds).toBeLessThanOrEqual(5_400);
  // The same counter behind others of its request, and another counter.
  expect((await resetOf(['none=a', 'quota=a 1', 'plain=a 4'], 50))[2]).toBe(alone);
  expect((await resetOf(['plain=b 4'], 50))[2]).not.toBe(alone);
});
