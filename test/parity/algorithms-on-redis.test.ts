import type { Explanation } from '../../src/core/explain/explanation';
import { startAlgorithmService, stepOf, type AlgorithmService } from '../support/algorithm-service';
import { START, VECTORS, type Row, type VectorLimit } from '../support/algorithm-vectors';
import { describeWithStores, nearRedis, type NearRedis } from '../support/near-stores';
import { readCounters } from '../support/read-counters';

const LIMITS = {
  gcra: 'algorithm: gcra, unit: minute, requests_per_unit: 5, burst: 2',
  sliding: 'algorithm: sliding_window, unit: hour, requests_per_unit: 2',
  guarded: 'charge_denied: false, unit: year, requests_per_unit: 2',
};

const rulesOf = (limits: Readonly<Record<string, string>>): string =>
  `domain: d\ndescriptors:\n${Object.entries(limits)
    .map(([key, limit]) => `  - key: ${key}\n    rate_limit: {${limit}}\n`)
    .join('')}`;

const yamlOf = ({ name, limit, periodSeconds, burst, chargeDenied }: VectorLimit): string => {
  const period = `unit: second, unit_multiplier: ${String(periodSeconds)}`;
  const fields = [`algorithm: ${name}`, period, `requests_per_unit: ${String(limit)}`];
  if (burst !== undefined) fields.push(`burst: ${String(burst)}`);
  if (chargeDenied !== undefined) fields.push(`charge_denied: ${String(chargeDenied)}`);
  return fields.join(', ');
};

const calendar = (rest: string) => `calendar: true, requests_per_unit: 9, ${rest}`;
const several = (unit: string, units: number) =>
  `requests_per_unit: 9, unit: ${unit}, unit_multiplier: ${String(units)}`;

type WindowRow = readonly [
  limit: string,
  time: string,
  keyEnd: string,
  reset: number,
  ttl?: number,
];

/** Limit, time, the end of the key of its counter, seconds until the end of the window, and for which the counter is kept. */
const WINDOWS: readonly WindowRow[] = [
  [calendar('unit: day'), '2026-11-22T12:00Z', '1795305600~c', 43_200],
  [calendar('unit: day, time_zone: Europe/Berlin'), '2026-10-25T10:00Z', '1792879200~c', 46_800],
  [calendar('unit: week, week_start: sunday'), '2026-11-22T12:00Z', '1795305600~c', 561_600],
  [calendar('unit: month, month_start: 15'), '2026-11-10T00:00Z', '1792022400~c', 432_000],
  [calendar('unit: month, unit_multiplier: 3'), '2026-05-20T00:00Z', '1775001600~c', 3_628_800],
  [calendar('unit: year, time_zone: Asia/Tokyo'), '2026-12-31T16:00Z', '1798729200~c', 31_532_400],
  [several('second', 30), '2023-11-14T22:15:25Z', '1700000100', 5, 30],
  [several('minute', 5), '2023-11-14T22:15:25Z', '1700000100', 275, 300],
  [several('week', 2), '2023-11-14T22:15:25Z', '1699488000', 697_475, 1_209_600],
];

let server: NearRedis;
beforeAll(async () => {
  server = await nearRedis(START);
});
afterAll(() => server.client.quit());

describeWithStores.each(['memory', 'redis'])(
  'the whole service, counting by algorithms in %s',
  (backend) => {
    let service: AlgorithmService;
    beforeAll(async () => {
      const redis = backend === 'redis' ? { port: server.port } : undefined;
      const startSeconds = START;
      service = await startAlgorithmService({ rules: rulesOf(LIMITS), startSeconds, redis });
    });
    afterAll(() => service.close());

    it('lets a burst through, then says when the next hit fits', async () => {
      expect(await service.ask('gcra', 'v', 1, 3)).toEqual([
        { code: 'OK', remaining: 1, reset: 12 },
        { code: 'OK', remaining: 0, reset: 24 },
        { code: 'OVER_LIMIT', remaining: 0, reset: 12 },
      ]);
      expect(await service.ask('gcra', 'v')).toMatchObject([{ code: 'OVER_LIMIT', remaining: 0 }]);
    });

    it.each(['sliding', 'guarded'])(
      'counts the limit of %s from one request to the next',
      async (key) => {
        const codes = [];
        for (let n = 0; n < 3; n += 1) codes.push(...((await service.ask(key, 'v')) ?? []));
        expect(codes).toMatchObject([
          { code: 'OK', remaining: 1 },
          { code: 'OK', remaining: 0 },
          { code: 'OVER_LIMIT', remaining: 0 },
        ]);
      },
    );
  },
);

describeWithStores.each(['memory', 'redis'])('at times that the test sets, in %s', (backend) => {
  let service: AlgorithmService;
  let nowSeconds = START;
  const setClock = (seconds: number): void => {
    nowSeconds = seconds;
    service.setClock(seconds);
  };
  beforeAll(async () => {
    const vectors = VECTORS.map(([, limit], at) => [`v${String(at)}`, yamlOf(limit)] as const);
    const windows = WINDOWS.map(([limit], at) => [`w${String(at)}`, limit] as const);
    service = await startAlgorithmService({
      rules: rulesOf(Object.fromEntries([...vectors, ...windows])),
      startSeconds: START,
      redis: backend === 'redis' ? { port: server.port, readSeconds: () => nowSeconds } : undefined,
    });
  });
  afterAll(() => service.close());

  const askOne = async (key: string, hits?: number) => {
    const [answered] = (await service.ask(key, 'at', hits)) ?? [];
    if (answered === undefined) throw new Error('the request was answered an error');
    return answered;
  };
  const counted = (key: string, name: string): number => {
    const counters = new Map(readCounters(service.registry));
    return counters.get(`ratelimit.service.rate_limit.d.${key}.${name}`)?.value ?? 0;
  };

  it.each(VECTORS.map((vector, at) => [vector[0], `v${String(at)}`, vector] as const))(
    '%s',
    async (_, key, [, { name }, rows]) => {
      const answered: Row[] = [];
      for (const [at, hits, , , , near] of rows) {
        setClock(START + at);
        const before = [counted(key, 'near_limit'), counted(key, 'over_limit')] as const;
        const { code, remaining, reset } = await askOne(key, hits);
        const isOver = code === 'OVER_LIMIT';
        expect(counted(key, 'over_limit') - before[1]).toBe(isOver ? Math.max(hits, 0) : 0);
        const shownReset = name === 'fixed_window' ? 0 : reset;
        const row: Row = [at, hits, isOver ? 'OVER' : 'OK', remaining, shownReset];
        const nearHits = counted(key, 'near_limit') - before[0];
        answered.push(near === undefined ? row : ([...row, nearHits] as unknown as Row));
      }
      expect(answered).toEqual(rows.map((row) => row.slice(0, 6)));
    },
  );

  it.each(WINDOWS.map((row, at) => [row[0], `w${String(at)}`, row] as const))(
    'counts {%s} in its window',
    async (_, key, [, time, keyEnd, reset, ttl = reset]) => {
      const second = Date.parse(time) / 1_000;
      setClock(second);
      expect(await askOne(key, 4)).toEqual({ code: 'OK', remaining: 5, reset });
      const explained = await service.explain(stepOf(key, 'at', 1, 1));
      const { descriptors = [] } = explained?.body as Partial<Explanation>;
      const { count, expiresInSeconds, key: name } = descriptors[0]?.counter ?? {};
      expect([count, name?.replace(/~c\d+$/, '~c')]).toEqual([4, `d_${key}_at_${keyEnd}`]);
      expect(expiresInSeconds).toBeLessThanOrEqual(ttl);
      expect(expiresInSeconds).toBeGreaterThan(ttl - 25);
      expect((await askOne(key, 6)).code).toBe('OVER_LIMIT');
      setClock(second + reset);
      expect((await askOne(key, 6)).remaining).toBe(3);
    },
  );
});

it.each([
  ['false', [{}, { unit: 'MINUTE' }, { unit: 'MONTH' }]],
  ['true', [{ unit: 'MINUTE', unitMultiplier: 5 }, { unit: 'MINUTE' }, { unit: 'MONTH' }]],
])(
  'with UNIT_MULTIPLIER_ON_WIRE=%s the unit of a period is said as far as clients know it',
  async (setting, units) => {
    const limits = [several('minute', 5), several('second', 60), calendar('unit: month')];
    const rules = rulesOf(Object.fromEntries(limits.map((limit, at) => [`k${String(at)}`, limit])));
    const settings = { UNIT_MULTIPLIER_ON_WIRE: setting };
    const service = await startAlgorithmService({ rules, startSeconds: START, settings });
    const descriptors = limits.map((_, at) => ({ entries: [{ key: `k${String(at)}` }] }));
    const body = JSON.stringify({ domain: 'd', descriptors });
    const step = { at: 0, http: { method: 'POST', path: '/json', body }, keys: {}, ttl: {} };
    const answer = await service.perform(step);
    await service.close();
    const { statuses } = answer.body as { statuses: readonly { currentLimit: object }[] };
    expect(statuses.map(({ currentLimit }) => currentLimit)).toEqual(
      units.map((unit) => ({ requestsPerUnit: 9, ...unit })),
    );
  },
);
