import { EMPTY, of } from 'rxjs';
import type { CounterStore } from '../../src/app/actors/store';
import { memoryReader } from '../../src/app/counter-readers';
import type { Clock } from '../../src/core/ports';
import {
  createMemoryCounters,
  type MemoryCounters,
} from '../../src/counters/memory/create-memory-counters';
import { startReplay, type Replayer } from '../parity/replayer';
import { START, VECTORS, type Row, type VectorLimit } from '../support/algorithm-vectors';

/** The whole service on its ports, with counters in memory and a clock that stands where the test puts it. */
interface Service extends Replayer {
  readonly counters: () => MemoryCounters;
}

async function startService(
  limits: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Service> {
  const descriptors = limits.map(
    (limit, index) => `  - key: k${String(index)}\n    rate_limit: {${limit}}\n`,
  );
  let counters: MemoryCounters | undefined;
  const replayer = await startReplay(
    {
      name: '',
      settings: { BACKEND_TYPE: 'memory', EXPIRATION_JITTER_MAX_SECONDS: '0', ...settings },
      rules: { 'rules.yaml': `domain: d\ndescriptors:\n${descriptors.join('')}` },
      steps: [{ at: START, keys: {}, ttl: {} }],
    },
    (_registry, clock) => {
      counters = createMemoryCounters({ clock });
      return Promise.resolve(memoryStore(counters, clock));
    },
  );
  return { ...replayer, counters: () => counters as MemoryCounters };
}

function memoryStore(counters: MemoryCounters, clock: Clock): CounterStore {
  const connections = new Map([['store', of(true)]]);
  const reader = memoryReader(counters, clock);
  const store = {
    counters,
    reader,
    writer: counters,
    connected$: of(true),
    connections,
    run$: EMPTY,
  };
  return { ...store, whyAway: () => undefined, description: 'memory' };
}

interface Status {
  readonly code: string;
  readonly limitRemaining?: number;
  readonly durationUntilReset?: string;
  readonly currentLimit?: object;
}

/** One descriptor over gRPC. */
async function ask(service: Service, key: string, hits = 1): Promise<Status> {
  const descriptor = {
    entries: [{ key, value: 'v' }],
    hitsAddend: Math.abs(hits),
    isNegativeHits: hits < 0,
  };
  const request = { domain: 'd', descriptors: [descriptor] };
  const { response } = await service.perform({ at: 0, request, keys: {}, ttl: {} });
  return (response as { statuses: readonly Status[] }).statuses[0] as Status;
}

const yamlOf = ({ name, limit, periodSeconds, burst, chargeDenied }: VectorLimit): string => {
  const period = `unit: second, unit_multiplier: ${String(periodSeconds)}`;
  const fields = [`algorithm: ${name}`, period, `requests_per_unit: ${String(limit)}`];
  if (burst !== undefined) fields.push(`burst: ${String(burst)}`);
  if (chargeDenied !== undefined) fields.push(`charge_denied: ${String(chargeDenied)}`);
  return fields.join(', ');
};

describe('the whole service, counting in memory', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(VECTORS.map(([, limit]) => yamlOf(limit)));
  });
  afterAll(() => service.close());

  const counted = (key: string, name: string): number => {
    const counters = new Map(service.registry.readCounters());
    return counters.get(`ratelimit.service.rate_limit.d.${key}.${name}`)?.value ?? 0;
  };

  it.each(VECTORS.map((vector, index) => [vector[0], `k${String(index)}`, vector] as const))(
    '%s',
    async (_, key, [, { name }, rows]) => {
      const answered: Row[] = [];
      for (const [at, hits, , , , near] of rows) {
        service.setClock(START + at);
        const before = [counted(key, 'near_limit'), counted(key, 'over_limit')] as const;
        const status = await ask(service, key, hits);
        const isOver = status.code === 'OVER_LIMIT';
        expect(counted(key, 'over_limit') - before[1]).toBe(isOver ? Math.max(hits, 0) : 0);
        const { limitRemaining = 0, durationUntilReset = '' } = status;
        const reset = name === 'fixed_window' ? 0 : parseInt(durationUntilReset, 10);
        const row: Row = [at, hits, isOver ? 'OVER' : 'OK', limitRemaining, reset];
        answered.push(
          near === undefined
            ? row
            : ([...row, counted(key, 'near_limit') - before[0]] as unknown as Row),
        );
      }
      expect(answered).toEqual(rows.map((row) => row.slice(0, 6)));
    },
  );
});

/** Time, limit, start of the window, its length in hours, seconds until its end, the end of the key. */
type WindowRow = readonly [now: string, limit: string, start: number, hours: number, reset: number];

const calendar = (rest: string) => `calendar: true, requests_per_unit: 9, ${rest}`;
const zoned = (unit: string, zone: string) => calendar(`unit: ${unit}, time_zone: ${zone}`);

const CALENDAR: readonly WindowRow[] = [
  ['2026-11-22T12:00Z', calendar('unit: day'), 1795305600, 24, 43200],
  ['2026-11-22T23:30Z', zoned('day', 'Europe/Berlin'), 1795388400, 24, 84600],
  ['2026-03-29T10:00Z', zoned('day', 'Europe/Berlin'), 1774738800, 23, 43200],
  ['2026-10-25T10:00Z', zoned('day', 'Europe/Berlin'), 1792879200, 25, 46800],
  ['2026-03-29T12:00Z', zoned('day', 'Asia/Beirut'), 1774735200, 23, 32400],
  ['2026-11-22T20:00Z', zoned('day', 'Asia/Kathmandu'), 1795371300, 24, 80100],
  ['2026-11-22T12:00Z', zoned('day', 'Pacific/Kiritimati'), 1795341600, 24, 79200],
  ['2026-11-22T12:00Z', calendar('unit: week'), 1794787200, 168, 43200],
  ['2026-11-22T12:00Z', calendar('unit: week, week_start: sunday'), 1795305600, 168, 561600],
  ['2026-11-22T23:30Z', zoned('week', 'Europe/Berlin'), 1795388400, 168, 603000],
  ['2026-02-10T00:00Z', calendar('unit: month'), 1769904000, 672, 1641600],
  ['2028-02-10T00:00Z', calendar('unit: month'), 1832976000, 696, 1728000],
  ['2026-11-30T23:30Z', zoned('month', 'Europe/Berlin'), 1796079600, 744, 2676600],
  ['2026-11-10T00:00Z', calendar('unit: month, month_start: 15'), 1792022400, 744, 432000],
  ['2026-11-20T00:00Z', calendar('unit: month, month_start: 15'), 1794700800, 720, 2160000],
  ['2026-05-20T00:00Z', calendar('unit: month, unit_multiplier: 3'), 1775001600, 2184, 3628800],
  ['2026-11-22T12:00Z', calendar('unit: year'), 1767225600, 8760, 3412800],
  ['2026-12-31T16:00Z', zoned('year', 'Asia/Tokyo'), 1798729200, 8760, 31532400],
];

const several = (unit: string, units: number) =>
  `requests_per_unit: 9, unit: ${unit}, unit_multiplier: ${String(units)}`;
const at = (second: number) => new Date(second * 1_000).toISOString();

const LENGTHS: readonly WindowRow[] = [
  [at(1700000125), several('minute', 5), 1700000100, 300 / 3600, 275],
  [at(1700000125), several('second', 30), 1700000100, 30 / 3600, 5],
  [at(1700000125), several('second', 60), 1700000100, 60 / 3600, 35],
  [at(1700000125), several('hour', 2), 1699999200, 2, 6275],
  [at(1700000125), several('day', 7), 1699488000, 168, 92675],
  [at(1700000125), several('week', 2), 1699488000, 336, 697475],
  [at(1700000125), several('day', 30), 1697760000, 720, 351875],
  [at(1700000125), several('month', 4), 1689984000, 2880, 351875],
  [at(1700000100), several('minute', 5), 1700000100, 300 / 3600, 300],
  [at(1700000399), several('minute', 5), 1700000100, 300 / 3600, 1],
];

describe.each([
  ['calendar periods', CALENDAR, '~c1'],
  ['windows of several units', LENGTHS, ''],
] as const)('the whole service, in %s', (_title, rows, keyEnd) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService(rows.map(([, limit]) => limit));
  });
  afterAll(() => service.close());

  it.each(rows.map((row, index) => [row[0], row[1], `k${String(index)}`, row] as const))(
    'at %s counts {%s} in its window',
    async (now, _limit, key, [, , start, hours, reset]) => {
      const second = Date.parse(now) / 1_000;
      service.setClock(second);
      expect(await ask(service, key, 4)).toMatchObject({
        code: 'OK',
        limitRemaining: 5,
        durationUntilReset: `${String(reset)}s`,
      });
      const entry = service.counters().read(`d_${key}_v_${String(start)}${keyEnd}`, second);
      const ttlSeconds = keyEnd === '' ? Math.round(hours * 3600) : reset;
      expect(entry).toEqual({ value: 4, ttlSeconds });
      expect(start + Math.round(hours * 3600) - second).toBe(reset);
      expect((await ask(service, key, 6)).code).toBe('OVER_LIMIT');
      service.setClock(second + reset);
      expect((await ask(service, key, 6)).limitRemaining).toBe(3);
    },
  );
});

describe('the unit of a period', () => {
  const limits = [
    several('minute', 5),
    several('second', 60),
    several('minute', 1),
    zoned('month', 'UTC'),
  ];

  it.each([
    ['false', [{}, { unit: 'MINUTE' }, { unit: 'MINUTE' }, { unit: 'MONTH' }]],
    [
      'true',
      [
        { unit: 'MINUTE', unitMultiplier: 5 },
        { unit: 'MINUTE' },
        { unit: 'MINUTE' },
        { unit: 'MONTH' },
      ],
    ],
  ])(
    'with UNIT_MULTIPLIER_ON_WIRE=%s is said as far as clients know it',
    async (setting, units) => {
      const service = await startService(limits, { UNIT_MULTIPLIER_ON_WIRE: setting });
      const descriptors = limits.map((_, index) => ({
        entries: [{ key: `k${String(index)}`, value: 'v' }],
      }));
      const body = JSON.stringify({ domain: 'd', descriptors });
      const step = { at: 0, http: { method: 'POST', path: '/json', body }, keys: {}, ttl: {} };
      const answer = await service.perform(step);
      await service.close();
      const { statuses } = answer.body as { statuses: readonly Status[] };
      expect(statuses.map(({ currentLimit }) => currentLimit)).toEqual(
        units.map((unit) => ({ requestsPerUnit: 9, ...unit })),
      );
    },
  );
});
