import fc from 'fast-check';
import type { Counters } from '../../src/core/ports';
import { compileRules } from '../../src/core/rules/compile';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { budgetOf, inFlight } from '../support/budgets';
import { createDecider, decisionOf } from '../support/decider';
import { freshKey, START_SECONDS } from '../support/increments';
import { describeWithStores, nearRedis } from '../support/near-stores';
import { runRedisCounters } from '../support/redis-counters';
import { descriptor, request } from '../support/requests';
import { definitionsOf, type RuleSketch } from '../support/rules';

const hour = { unit: 'HOUR', requestsPerUnit: 6 } as const;
const bucket = { unit: 'YEAR', requestsPerUnit: 9, algorithm: 'gcra' } as const;
const log = { unit: 'DAY', requestsPerUnit: 7, algorithm: 'sliding_window' } as const;
const window = { unit: 'WEEK', requestsPerUnit: 70, algorithm: 'sliding_window' } as const;
const block = { after: 2, forMs: 600_000 };

const RULES: Readonly<Record<string, Pick<RuleSketch, 'limit' | 'budget'>>> = {
  window: budgetOf([hour], { reserve: {} }),
  bucket: budgetOf([bucket], { reserve: { unsettled: 'release' } }),
  log: budgetOf([log], { reserve: {} }),
  list: budgetOf([hour, bucket, log, window], { reserve: {} }),
  slots: budgetOf([inFlight(2)], { reserve: {} }),
  both: budgetOf([inFlight(3), log], { reserve: {}, block }),
};

const STEPS = fc.array(
  fc.array(
    fc.record({
      mode: fc.constantFrom('reserve', 'reserve', 'settle', undefined),
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      hits: fc.oneof(
        fc.integer({ min: -4, max: 4 }),
        fc.constantFrom(-100, -Number.MAX_SAFE_INTEGER),
      ),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  { minLength: 5, maxLength: 15 },
);

const clock = () => START_SECONDS;

/** Hits below 0 in every mode, as the planner makes increments of them: on clocks that stand, so that resets are compared too. */
function describeNegativeHits(counters: () => Counters): void {
  describe.each(Object.keys(RULES))('a rule with reservations: %s', (key) => {
    it.each([false, true])(
      'holds and settles what no hits would, whatever its charges refund, together: %j',
      async (isChargedTogether) => {
        const rules = definitionsOf([
          { key, ...RULES[key] },
          { key: 'plain', limit: { unit: 'YEAR', requestsPerUnit: 9_000_000 } },
        ]);
        const current = compileRules([{ domain: 'd', rules, isChargedTogether }]);
        const decide = createDecider({ rules: { current }, counters: counters(), clock });
        await fc.assert(
          fc.asyncProperty(STEPS, async (steps) => {
            const user = freshKey();
            for (const step of steps) {
              const asked = (suffix: string, least: number) =>
                step.map(({ mode, id, hits: given }) => {
                  const hits = mode === undefined ? given : Math.max(least, given);
                  const entries = [`${key}=${user}${suffix}`, ...(mode ? [`${mode}=${id}`] : [])];
                  return descriptor(entries, { hits: Math.abs(hits), isNegativeHits: hits < 0 });
                });
              const { answers } = await decide(
                request('d', [...asked('raw', -Infinity), `plain=${user}raw`]),
                request('d', [...asked('none', 0), `plain=${user}none`]),
              );
              const [raw, none] = answers.map((one) => decisionOf(one).statuses);
              expect(raw).toEqual(none);
            }
          }),
          { numRuns: 25 },
        );
      },
    );
  });
}

describe('negative hits, in memory', () => {
  const counters = createMemoryCounters({ clock });
  afterAll(() => counters.close());
  describeNegativeHits(() => counters);
});

describeWithStores('negative hits, in Redis', () => {
  let counters: ReturnType<typeof runRedisCounters>;
  let redis: Awaited<ReturnType<typeof nearRedis>>;
  beforeAll(async () => {
    redis = await nearRedis(START_SECONDS);
    counters = runRedisCounters({ address: redis.address, timeoutMs: 10_000 });
    await counters.untilConnected();
  });
  afterAll(async () => {
    await counters.stop();
    await redis.client.quit();
  });
  describeNegativeHits(() => counters);
});
