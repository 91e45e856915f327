import { firstValueFrom, Subscription, timer } from 'rxjs';
import {
  createLimitsFrom,
  type LimitsFromEvent,
} from '../../../../src/counters/limits-from/create-limits-from';
import type { KnownLimitsBounds } from '../../../../src/counters/limits-from/known-limits';
import type { KeyRules, LimitsFromRule } from '../../../../src/core/rules/rules';
import { rulesOf } from '../../../support/rules';

let subscription = Subscription.EMPTY;
beforeEach(() => jest.useFakeTimers());
afterEach(() => {
  subscription.unsubscribe();
  jest.useRealTimers();
});

const REFRESH_MS = 10_000;
const rule = ruleFrom('tenant_limits', REFRESH_MS);

function ruleFrom(key: string, refreshMs: number): LimitsFromRule {
  const limit = { requestsPerUnit: 5, unit: 'MINUTE', limitsFrom: { key, refreshMs } } as const;
  const { top } = rulesOf('d', [{ key: 'k', limit }]).domains.get('d') ?? {};
  return (top as KeyRules).anyValue?.limit?.limitsFrom as LimitsFromRule;
}

/** A store of hashes in this process, whose reads can be counted and failed. */
function setUp(bounds?: KnownLimitsBounds) {
  const hash = new Map<string, string>();
  const reads: (readonly string[])[] = [];
  const statistics = new Map<string, number>();
  const events: LimitsFromEvent[] = [];
  const store = { isAway: false };
  const limits = createLimitsFrom(
    {
      readFields(_hash, fields) {
        reads.push(fields);
        return store.isAway
          ? Promise.reject(new Error('away'))
          : Promise.resolve(fields.map((field) => hash.get(field) ?? null));
      },
      monotonicMs: () => jest.now(),
      statistics: { count: (name, by) => statistics.set(name, (statistics.get(name) ?? 0) + by) },
      onEvent: (event) => events.push(event),
    },
    bounds,
  );
  subscription = limits.run$.subscribe();
  const limitOf = (value: string) => limits.limitOf(rule, value);
  /** What is known of a value once it was read. */
  const learn = async (value: string) => {
    limitOf(value);
    await jest.advanceTimersByTimeAsync(0);
    return limitOf(value);
  };
  return { hash, reads, statistics, events, store, limits, limitOf, learn };
}

it.each([
  ['7', 7],
  ['0', 0],
  ['unlimited', 'unlimited'],
  ['4294967295', 4_294_967_295],
])('a field that holds %s is a limit', async (text, limit) => {
  const { hash, learn, statistics } = setUp();
  hash.set('ann', text);
  expect(await learn('ann')).toBe(limit);
  expect(statistics.size).toBe(0);
});

it('is undefined until the field was read, and where there is none', async () => {
  const { hash, limitOf, learn } = setUp();
  hash.set('ann', '7');
  expect(limitOf('ann')).toBeUndefined();
  expect(await learn('bob')).toBeUndefined();
  expect(limitOf('ann')).toBe(7);
});

it.each(['-1', '1.5', '4294967296', '', 'many', ' 7', '1e3', '99999999999'])(
  'a field that holds %j is counted, and the limit of the rule holds',
  async (text) => {
    const { hash, learn, statistics, events } = setUp();
    hash.set('ann', text);
    expect(await learn('ann')).toBeUndefined();
    expect(statistics).toEqual(new Map([['ratelimit.service.limits_from.invalid', 1]]));
    expect(events).toContainEqual({
      kind: 'invalid',
      key: 'tenant_limits',
      found: text,
      fields: 1,
    });
  },
);

it('reads the new values of one batch together, and each once', async () => {
  const { limitOf, reads } = setUp();
  for (const value of ['a', 'b', 'a']) limitOf(value);
  await jest.advanceTimersByTimeAsync(0);
  limitOf('b');
  limitOf('c');
  await jest.advanceTimersByTimeAsync(0);
  expect(reads).toEqual([['a', 'b'], ['c']]);
});

it('knows a change within the refresh, and reads no more often', async () => {
  const { hash, learn, limitOf, reads } = setUp();
  hash.set('ann', '7');
  await learn('ann');
  await jest.advanceTimersByTimeAsync(1_000);
  hash.set('ann', '9');
  await jest.advanceTimersByTimeAsync(REFRESH_MS);
  expect(limitOf('ann')).toBe(9);
  hash.delete('ann');
  await jest.advanceTimersByTimeAsync(REFRESH_MS);
  expect(limitOf('ann')).toBeUndefined();
  expect(reads.length).toBeLessThan(5);
});

it.each([1_000, 2_000, 3_000, 10_000])(
  'knows nothing that is older than a refresh of %d ms, though timers are early by a hair and reads take their time',
  async (refreshMs) => {
    const hasty = ruleFrom('tenant_limits', refreshMs);
    let oldest = 0;
    let nowMs = 0;
    const limits = createLimitsFrom({
      readFields: async (_hash, fields) => {
        const text = String(nowMs);
        await firstValueFrom(timer(50));
        return fields.map(() => text);
      },
      // Timers of Node fire up to a millisecond before performance.now() says so.
      monotonicMs: () => nowMs - (nowMs % 7) / 10,
      statistics: { count: () => undefined },
    });
    subscription = limits.run$.subscribe();
    limits.limitOf(hasty, 'ann');
    for (; nowMs < 120_000; nowMs += 10) {
      await jest.advanceTimersByTimeAsync(10);
      const known = limits.limitOf(hasty, 'ann');
      if (typeof known === 'number') oldest = Math.max(oldest, nowMs - known);
    }
    expect(oldest).toBeGreaterThan(refreshMs / 2);
    expect(oldest).toBeLessThanOrEqual(refreshMs);
  },
);

it('keeps what was known while the hash cannot be read, and catches up afterwards', async () => {
  const { hash, learn, limitOf, store, statistics, events } = setUp();
  hash.set('ann', '7').set('bob', '8');
  await learn('ann');
  store.isAway = true;
  await jest.advanceTimersByTimeAsync(REFRESH_MS * 3);
  expect(limitOf('ann')).toBe(7);
  expect(await learn('bob')).toBeUndefined();
  expect(statistics.get('ratelimit.service.limits_from.error')).toBeGreaterThan(2);
  expect(events).toContainEqual({ kind: 'failed', key: 'tenant_limits', reason: 'away' });
  store.isAway = false;
  hash.set('ann', '9');
  await jest.advanceTimersByTimeAsync(2_000);
  expect([limitOf('ann'), limitOf('bob')]).toEqual([9, 8]);
  expect(events.at(-1)?.kind).toBe('valid');
});

it('asks for at most 500 fields at a time', async () => {
  const { limitOf, reads } = setUp();
  for (let i = 0; i < 1_200; i += 1) limitOf(String(i));
  await jest.advanceTimersByTimeAsync(0);
  expect(reads.map(({ length }) => length)).toEqual([500, 500, 200]);
});

it('forgets a hash of which nothing was asked for an hour', async () => {
  const { hash, learn, limitOf, reads } = setUp();
  hash.set('ann', '7');
  await learn('ann');
  await jest.advanceTimersByTimeAsync(3_700_000);
  const before = reads.length;
  await jest.advanceTimersByTimeAsync(60_000);
  expect(reads).toHaveLength(before);
  expect(limitOf('ann')).toBeUndefined();
  expect(await learn('ann')).toBe(7);
});

it('reads no more the values that nobody asked for an hour, while others of the hash are asked for', async () => {
  const { hash, learn, limitOf, reads } = setUp();
  hash.set('ann', '7').set('bob', '8');
  await learn('ann');
  await learn('bob');
  for (let at = 0; at < 3_700_000; at += REFRESH_MS) {
    limitOf('bob');
    await jest.advanceTimersByTimeAsync(REFRESH_MS);
  }
  expect([reads[1], reads.at(-1)]).toEqual([['bob'], ['bob']]);
  expect(limitOf('ann')).toBeUndefined();
  expect(await learn('ann')).toBe(7);
});

it('reads nothing for values that are too long to be compared', async () => {
  const { learn, reads } = setUp();
  await learn('x'.repeat(4_097));
  expect(reads).toEqual([]);
});

it('reads no more after it was closed', async () => {
  const { limits, limitOf, learn, reads } = setUp();
  await learn('ann');
  limits.close();
  limitOf('bob');
  await jest.advanceTimersByTimeAsync(REFRESH_MS * 2);
  expect(reads).toEqual([['ann']]);
});

describe('with room for three values', () => {
  const bounds = { maxValues: 3, maxBytes: 1_000_000 };

  it('loses the one that was first read and not asked for since', async () => {
    const { hash, learn, limitOf } = setUp(bounds);
    for (const value of ['a', 'b', 'c', 'd']) hash.set(value, '1');
    await learn('a');
    limitOf('b');
    limitOf('c');
    await jest.advanceTimersByTimeAsync(0);
    await learn('d');
    expect(limitOf('a')).toBe(1);
    expect(limitOf('b')).toBeUndefined();
  });

  it('lets the largest hash lose first', async () => {
    const { hash, limits, learn } = setUp(bounds);
    const other = ruleFrom('others', REFRESH_MS);
    for (const value of ['a', 'b', 'c']) await learn(value);
    hash.set('z', '2');
    limits.limitOf(other, 'z');
    await jest.advanceTimersByTimeAsync(0);
    expect(limits.limitOf(other, 'z')).toBe(2);
  });
});

it('holds a bounded number of bytes, however many values come', async () => {
  const { hash, limitOf, reads } = setUp({ maxValues: 100_000, maxBytes: 10_000 });
  hash.set('x'.repeat(1_000) + '9', '3');
  for (let i = 0; i < 10_000; i += 1) limitOf('x'.repeat(1_000) + String(i));
  await jest.advanceTimersByTimeAsync(0);
  expect(reads.flat().length).toBeLessThan(10);
});

describe('for operators', () => {
  it('one value is read at once, whatever is known of it', async () => {
    const { hash, limits, limitOf, learn } = setUp();
    hash.set('ann', '7');
    expect(await learn('ann')).toBe(7);
    hash.set('ann', '8');
    await limits.read(rule, 'ann');
    expect(limitOf('ann')).toBe(8);
  });

  it('what is known stays when it cannot be read', async () => {
    const { hash, limits, limitOf, learn, store, statistics } = setUp();
    hash.set('ann', '7');
    await learn('ann');
    store.isAway = true;
    await limits.read(rule, 'ann');
    expect(limitOf('ann')).toBe(7);
    expect(statistics.get('ratelimit.service.limits_from.error')).toBe(1);
  });
});

it('reports once that all fields which were there are gone, and that some are there again', async () => {
  const { hash, statistics, events, limitOf, learn } = setUp();
  const said = () => events.filter(({ kind }) => kind === 'lost' || kind === 'present');
  hash.set('gold', '5000').set('silver', '500');
  for (const value of ['gold', 'silver', 'bronze']) await learn(value);
  hash.delete('silver');
  await jest.advanceTimersByTimeAsync(REFRESH_MS);
  expect(said()).toEqual([]);
  hash.clear();
  await jest.advanceTimersByTimeAsync(2 * REFRESH_MS);
  expect(limitOf('gold')).toBeUndefined();
  expect(said().at(-1)).toEqual({ kind: 'lost', key: 'tenant_limits', fields: 1 });
  expect(statistics.get('ratelimit.service.limits_from.lost')).toBe(1);
  hash.set('gold', '5000');
  await jest.advanceTimersByTimeAsync(REFRESH_MS);
  expect(said().at(-1)).toEqual({ kind: 'present', key: 'tenant_limits' });
});

it('misses no fields where there never were any', async () => {
  const { events, learn } = setUp();
  await learn('ann');
  await jest.advanceTimersByTimeAsync(3 * REFRESH_MS);
  expect(events.some(({ kind }) => kind === 'lost')).toBe(false);
});
