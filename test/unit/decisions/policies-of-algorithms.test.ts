import fc from 'fast-check';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { createDecider, decisionOf } from '../../support/decider';
import { request } from '../../support/requests';
import { rulesOf, type RuleSketch } from '../../support/rules';

/** The start of a minute, 840 s into its hour. */
const START = 1_700_000_040;
const MONTH = { timeZone: 'UTC', weekStart: 'monday', monthStart: 1 } as const;

/** Decisions over counters in memory, whose clock stands where the test puts it. */
function setUp(sketches: readonly RuleSketch[]) {
  const now = { seconds: START };
  const clock = () => now.seconds;
  const decideBatch = createDecider(
    {
      rules: { current: rulesOf('d', sketches) },
      counters: createMemoryCounters({ clock }),
      clock,
    },
    {
      policies: {
        policies: 'all',
        retryAfter: true,
        nearHeader: 'x-near',
        jitterPercent: 0,
        problemBody: false,
      },
    },
  );
  const hit = async (key: string, hits = 1, atSeconds = 0) => {
    now.seconds = START + atSeconds;
    const { answers } = await decideBatch(request('d', [`${key}=v`], hits));
    const answer = decisionOf(answers[0]);
    return {
      code: answer.overallCode,
      retryAfter: answer.retryAfter,
      headers: answer.responseHeaders.map(({ key: name, value }) => `${name}: ${value}`),
    };
  };
  return { hit };
}

const limits = {
  api: { requestsPerUnit: 600, unit: 'MINUTE', algorithm: 'gcra', burst: 20, name: 'api' },
  sliding: { requestsPerUnit: 10, unit: 'MINUTE', algorithm: 'sliding_window' },
  guarded: { requestsPerUnit: 10, unit: 'MINUTE', chargeDenied: false },
  long: { requestsPerUnit: 100, unit: 'MINUTE', unitMultiplier: 5 },
  month: { requestsPerUnit: 100, unit: 'MONTH', calendar: MONTH },
  quarter: { requestsPerUnit: 100, unit: 'MONTH', unitMultiplier: 3, calendar: MONTH },
} as const;
const RULES = Object.entries(limits).map(([key, limit]) => ({ key, limit }));

describe('headers of limits by other algorithms and periods', () => {
  it('say the burst of a token bucket, and when the next hit fits', async () => {
    const { hit } = setUp(RULES);
    const policy = 'RateLimit-Policy: "api";q=600;w=60;weir-burst=20';
    expect((await hit('api', 5)).headers).toEqual([policy, 'RateLimit: "api";r=15;t=1']);
    expect((await hit('api', 15)).headers).toEqual([
      policy,
      'RateLimit: "api";r=0;t=2',
      'x-near: 1',
    ]);
    expect((await hit('api')).headers).toEqual([
      policy,
      'RateLimit: "api";r=0;t=1',
      'Retry-After: 1',
    ]);
    // More than the bucket holds: waiting does not help.
    expect((await hit('api', 21)).headers).toEqual([policy, 'RateLimit: "api";r=0;t=2']);
  });

  it('say how long what a sliding window holds stays in it', async () => {
    const { hit } = setUp(RULES);
    const policy = 'RateLimit-Policy: "10-per-minute";q=10;w=60';
    await hit('sliding', 1);
    await hit('sliding', 8, 30);
    await hit('sliding', 1, 59.999);
    expect((await hit('sliding', 2, 60)).headers).toEqual([
      policy,
      'RateLimit: "10-per-minute";r=0;t=30',
      'Retry-After: 30',
    ]);
    expect((await hit('sliding', 9, 90)).headers).toEqual([
      policy,
      'RateLimit: "10-per-minute";r=0;t=60',
      'x-near: 1',
    ]);
  });

  it('wait for the end of a fixed window that charges nothing it refuses', async () => {
    const { hit } = setUp(RULES);
    await hit('guarded', 8);
    expect((await hit('guarded', 4, 15)).headers).toEqual([
      'RateLimit-Policy: "10-per-minute";q=10;w=60',
      'RateLimit: "10-per-minute";r=0;t=45',
      'Retry-After: 45',
    ]);
  });

  it.each([
    ['long', '"100-per-5-minutes";q=100;w=300', '"100-per-5-minutes";r=99;t=60'],
    ['month', '"100-per-month";q=100;w=2592000', '"100-per-month";r=99;t=1388760'],
    ['quarter', '"100-per-3-months";q=100;w=7948800', '"100-per-3-months";r=99;t=4067160'],
  ])('name a period that is %s by its units, and say its true length', async (key, limit, rest) => {
    const { hit } = setUp(RULES);
    expect((await hit(key)).headers).toEqual([`RateLimit-Policy: ${limit}`, `RateLimit: ${rest}`]);
  });
});

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
        const { hit } = setUp([{ key: 'k', limit: { ...more, unit: 'MINUTE', algorithm } }]);
        let atMs = 0;
        for (const { hits, waitMs } of descriptorHits) {
          atMs += waitMs;
          const { code, retryAfter } = await hit('k', hits, atMs / 1_000);
          if (code === 'OK' || hits > more.requestsPerUnit) {
            expect(retryAfter).toBeUndefined();
            continue;
          }
          const wait = Number(retryAfter) * 1_000;
          if (wait > 1_000) {
            const sooner = await hit('k', hits, (atMs + wait - 1_000) / 1_000);
            expect(sooner.code).toBe('OVER_LIMIT');
          }
          atMs += wait;
          expect((await hit('k', hits, atMs / 1_000)).code).toBe('OK');
        }
      }),
      { numRuns: 60 },
    );
  },
);
