import fc from 'fast-check';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { createDecider, decisionOf } from '../../support/decider';
import { request } from '../../support/requests';
import { rulesOf, type RuleSketch } from '../../support/rules';

/** The start of a minute, 840 s into its hour. */
const START = 1_700_000_040;

/** Decisions over counters in memory, whose clock stands where the test puts it. */
function setUp(limit: NonNullable<RuleSketch['limit']>) {
  const now = { seconds: START };
  const clock = () => now.seconds;
  const rules = { current: rulesOf('d', [{ key: 'k', limit }]) };
  const decide = createDecider(
    { rules, counters: createMemoryCounters({ clock }), clock },
    {
      policies: {
        policies: 'all',
        retryAfter: true,
        nearHeader: '',
        jitterPercent: 0,
        problemBody: false,
      },
    },
  );
  return async (hits: number, atSeconds: number) => {
    now.seconds = START + atSeconds;
    const { overallCode, retryAfter } = decisionOf(
      (await decide(request('d', ['k=v'], hits))).answers[0],
    );
    return { code: overallCode, retryAfter };
  };
}

it.each(['gcra', 'sliding_window'] as const)(
  'Retry-After under %s is exact: the same request passes then, and no whole second sooner',
  async (algorithm) => {
    const limit = fc.record({
      requestsPerUnit: fc.integer({ min: 1, max: 40 }),
      unitMultiplier: fc.integer({ min: 1, max: 4 }),
    });
    const demand = fc.array(
      fc.record({
        hits: fc.integer({ min: 1, max: 6 }),
        waitMs: fc.integer({ min: 0, max: 20_000 }),
      }),
      { minLength: 5, maxLength: 60 },
    );
    await fc.assert(
      fc.asyncProperty(limit, demand, async (more, descriptorHits) => {
        const hit = setUp({ ...more, unit: 'MINUTE', algorithm });
        let atMs = 0;
        for (const { hits, waitMs } of descriptorHits) {
          atMs += waitMs;
          const { code, retryAfter } = await hit(hits, atMs / 1_000);
          if (code === 'OK' || hits > more.requestsPerUnit) {
            expect(retryAfter).toBeUndefined();
            continue;
          }
          const wait = Number(retryAfter) * 1_000;
          if (wait > 1_000) {
            const sooner = await hit(hits, (atMs + wait - 1_000) / 1_000);
            expect(sooner.code).toBe('OVER_LIMIT');
          }
          atMs += wait;
          expect((await hit(hits, atMs / 1_000)).code).toBe('OK');
        }
      }),
      { numRuns: 60 },
    );
  },
);
