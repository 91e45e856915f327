import { createExplainEndpoint } from '../../../../src/app/admin/explain-endpoint';
import type { Explanation } from '../../../../src/core/explain/explanation';
import { createOverLimitCache } from '../../../../src/counters/over-limit-cache';
import { DEFAULT_BOUNDS } from '../../../../src/transport/bounds';
import { PLAIN_DECISIONS } from '../../../support/decider';
import { increment } from '../../../support/increments';
import { rulesOf } from '../../../support/rules';
import { runSteps } from '../../../support/run-steps';

const NOW = 70;
const KEY = 'shop_user_ann_60';
const RULES = rulesOf('shop', [
  { key: 'user', limit: { requestsPerUnit: 10, unit: 'MINUTE', leased: true } },
]);
const ASK = { domain: 'shop', descriptors: [{ entries: [{ key: 'user', value: 'ann' }] }] };

/** The counter has reached its limit, and the cache knows it. */
async function explain(left: number, format = '') {
  const cache = createOverLimitCache({}, { sizeBytes: 100_000, leasedSeconds: 10 });
  cache.remember({ ...increment(KEY, 1), windowEndSeconds: 120 }, 10, NOW);
  const reading = { count: 10, expiresInSeconds: 50, store: 'redis' };
  const endpoint = createExplainEndpoint({
    rules: { current: RULES },
    whyNoRules: { current: '' },
    rulesVersion: () => undefined,
    store: {
      reader: { read: (places) => Promise.resolve(places.map(() => reading)) },
      localCache: undefined,
      leases: { cache, forget: () => undefined, read: () => ({ left, of: 120 }) },
    },
    clock: () => NOW,
    options: PLAIN_DECISIONS,
    bounds: DEFAULT_BOUNDS,
  });
  const { body } = await runSteps(
    endpoint.handle({
      ...{ body: undefined, text: JSON.stringify(ASK), peer: '10.0.0.9', tokenId: undefined },
      query: new URLSearchParams(format),
    }),
  );
  return body as Explanation;
}

it('answers from what is left on lease here before it asks the cache, as decisions do', async () => {
  const { overallCode, descriptors } = await explain(3);
  expect(overallCode).toBe('OK');
  expect(descriptors[0]).toMatchObject({
    counter: { count: 10, cachedOverLimit: true, lease: { left: 3, of: 120 } },
    ifAsked: { code: 'OK', remaining: 2 },
  });
  expect((await explain(0)).overallCode).toBe('OVER_LIMIT');
});

it('says it to a person', async () => {
  expect(await explain(37, 'format=text')).toContain(', on lease: 37 of 120 are left here');
});
