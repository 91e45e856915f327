import fc from 'fast-check';
import {
  startAlgorithmService,
  type AlgorithmService,
  type Answered,
} from '../support/algorithm-service';
import { describeWithStores, nearRedis, type NearRedis } from '../support/near-stores';

const START = 1_700_000_040;
const HOUR = 3_600;

/** Limits under which one hit takes a minute and more to drain: keys of Redis expire by the time of day. */
const LIMITS = {
  bucket: 'algorithm: gcra, unit: hour, requests_per_unit: 60, burst: 5',
  uneven: 'algorithm: gcra, unit: hour, requests_per_unit: 7',
  debt: 'algorithm: gcra, unit: day, requests_per_unit: 1000, burst: 6, charge_denied: true',
  sliding: 'algorithm: sliding_window, unit: hour, requests_per_unit: 9',
  slidingDebt: 'algorithm: sliding_window, unit: day, requests_per_unit: 11, charge_denied: true',
  guarded: 'charge_denied: false, unit: hour, requests_per_unit: 9',
  plain: 'unit: hour, requests_per_unit: 9',
} as const;
type Key = keyof typeof LIMITS;
const KEYS = Object.keys(LIMITS) as Key[];

const rulesOf = (limits: Readonly<Record<string, string>>): string =>
  `domain: d\ndescriptors:\n${Object.entries(limits)
    .map(([key, limit]) => `  - key: ${key}\n    rate_limit: {${limit}}\n`)
    .join('')}`;
const RULES = rulesOf(LIMITS);

let server: NearRedis;
let nowSeconds = START;
let serial = 0;
const services: Record<string, AlgorithmService> = {};

/** Every run has counters of its own, and the time only goes on. */
const freshValue = (): string => `v${String((serial += 1))}`;
const pass = (milliseconds: number): void => {
  nowSeconds = Math.round(nowSeconds * 1_000 + milliseconds) / 1_000;
  for (const service of Object.values(services)) service.setClock(nowSeconds);
  services['late']?.setClock(nowSeconds - 5);
};

beforeAll(async () => {
  server = await nearRedis(START);
  const redis = { port: server.port, readSeconds: () => nowSeconds };
  const options = { rules: RULES, startSeconds: START };
  services['memory'] = await startAlgorithmService(options);
  services['redis'] = await startAlgorithmService({ ...options, redis });
  services['late'] = await startAlgorithmService({ ...options, startSeconds: START - 5, redis });
});
afterAll(async () => {
  await Promise.all(Object.values(services).map((service) => service.close()));
  await server.client.quit();
});

interface Step {
  /** Share of an hour that passes before. */
  readonly pause: number;
  readonly hits: number;
  readonly times: number;
}

const STEPS = (hits: fc.Arbitrary<number>): fc.Arbitrary<Step[]> =>
  fc.array(
    fc.record({
      pause: fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1.5, noNaN: true })),
      hits,
      times: fc.integer({ min: 1, max: 4 }),
    }),
    { minLength: 1, maxLength: 12 },
  );
const ANY_HITS = fc.integer({ min: -4, max: 12 });
const SOME_HITS = fc.integer({ min: 1, max: 6 });

const passShare = (pause: number): void => {
  pass(Math.floor(pause * HOUR * 1_000));
};
const isAdmitted = ({ code }: Answered): boolean => code === 'OK';

describeWithStores.each(['memory', 'redis'])('the whole service, counting in %s', (backend) => {
  const ask = async (
    key: Key,
    value: string,
    hits = 1,
    times = 1,
  ): Promise<readonly Answered[]> => {
    const answered = await services[backend]?.ask(key, value, hits, times);
    if (answered === undefined) throw new Error('the request was answered an error');
    return answered;
  };

  it.each([
    ['bucket', 5n, 60n, 3_600_000n],
    ['uneven', 7n, 7n, 3_600_000n],
  ] as const)(
    'admits under endless demand exactly what the bucket and the time bring: %s',
    async (key, burst, limit, periodMs) => {
      // The bucket is never left alone for as long as it takes to fill.
      const mostMs = Number(((burst - 1n) * periodMs) / limit);
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 0, max: mostMs }), { minLength: 1, maxLength: 12 }),
          async (pauses) => {
            const value = freshValue();
            let [admitted, elapsedMs] = [0n, 0n];
            for (const pause of [0, ...pauses]) {
              pass(pause);
              elapsedMs += BigInt(pause);
              const answers = await ask(key, value, 1, Number(burst) + 2);
              expect(answers.at(-1)?.code).toBe('OVER_LIMIT');
              admitted += BigInt(answers.filter(isAdmitted).length);
              expect(admitted).toBe(burst + (limit * elapsedMs) / periodMs);
            }
          },
        ),
        { numRuns: 15 },
      );
    },
  );

  it.each([
    ['bucket', 5, 60],
    ['uneven', 7, 7],
  ] as const)(
    'never admits more than the promise of %s in any interval',
    async (key, burst, limit) => {
      await fc.assert(
        fc.asyncProperty(STEPS(SOME_HITS), async (steps) => {
          const value = freshValue();
          const taken: { readonly at: number; readonly hits: number }[] = [];
          for (const { pause, hits, times } of steps) {
            passShare(pause);
            const admitted = (await ask(key, value, hits, times)).filter(isAdmitted).length;
            taken.push({ at: nowSeconds, hits: admitted * hits });
          }
          taken.forEach((from, first) => {
            let sum = 0;
            for (const to of taken.slice(first)) {
              sum += to.hits;
              const elapsedMs = Math.round((to.at - from.at) * 1_000);
              const promise = burst + Math.floor((limit * elapsedMs) / (HOUR * 1_000));
              expect(sum).toBeLessThanOrEqual(promise);
            }
          });
        }),
        { numRuns: 20 },
      );
    },
  );

  it('never admits more than the limit of a sliding window in an aligned hour', async () => {
    await fc.assert(
      fc.asyncProperty(STEPS(SOME_HITS), async (steps) => {
        const value = freshValue();
        const admitted = new Map<number, number>();
        for (const { pause, hits, times } of steps) {
          passShare(pause);
          const hour = Math.floor(nowSeconds / HOUR);
          const taken = (await ask('sliding', value, hits, times)).filter(isAdmitted).length;
          admitted.set(hour, (admitted.get(hour) ?? 0) + taken * hits);
        }
        expect(Math.max(...admitted.values())).toBeLessThanOrEqual(9);
      }),
      { numRuns: 20 },
    );
  });

  it.each(KEYS)('changes nothing by looks: %s', async (key) => {
    await fc.assert(
      fc.asyncProperty(STEPS(ANY_HITS), async (steps) => {
        const [looked, left] = [freshValue(), freshValue()];
        for (const { pause, hits, times } of steps) {
          passShare(pause);
          await ask(key, looked, 0, times);
          expect(await ask(key, looked, hits)).toEqual(await ask(key, left, hits));
        }
      }),
      { numRuns: 8 },
    );
  });

  it.each(KEYS)('answers equal asks of %s the same however they are split', async (key) => {
    await fc.assert(
      fc.asyncProperty(STEPS(SOME_HITS), async (steps) => {
        const [whole, inTurn, atOnce] = [freshValue(), freshValue(), freshValue()];
        for (const { pause, hits, times } of steps) {
          passShare(pause);
          const together = await ask(key, whole, hits, times);
          const apart: Answered[] = [];
          for (let n = 0; n < times; n += 1) apart.push(...(await ask(key, inTurn, hits)));
          const requests = Array.from({ length: times }, () => ask(key, atOnce, hits));
          expect(apart).toEqual(together);
          expect((await Promise.all(requests)).flat()).toEqual(together);
        }
      }),
      { numRuns: 8 },
    );
  });
});

const PACED = KEYS.filter((key) => key !== 'guarded' && key !== 'plain');

it.each(PACED)(
  'two instances on one Redis, whose clocks are 5 s apart, and one in memory agree step by step: %s',
  async (key) => {
    const { memory, redis, late } = services;
    const moves = fc.array(
      fc.record({
        step: STEPS(ANY_HITS).map(([step]) => step as Step),
        isLate: fc.boolean(),
      }),
      { minLength: 1, maxLength: 25 },
    );
    await fc.assert(
      fc.asyncProperty(moves, async (given) => {
        const value = freshValue();
        for (const { step, isLate } of given) {
          const { pause, hits, times } = step;
          passShare(pause);
          const [own, other] = isLate ? [late, redis] : [redis, late];
          const answered = await own?.ask(key, value, hits, hits > 0 ? times : 1);
          expect(answered).toEqual(await memory?.ask(key, value, hits, hits > 0 ? times : 1));
          expect(await other?.ask(key, value, 0)).toEqual(await memory?.ask(key, value, 0));
        }
      }),
      { numRuns: 12 },
    );
  },
);
