import fc from 'fast-check';
import {
  policyHeaders,
  type PolicyHeaderOptions,
  type PolicyStatus,
  lengthen,
} from '../../../../src/core/decision/policy-headers';

const ALL: PolicyHeaderOptions = {
  policies: 'all',
  retryAfter: true,
  nearHeader: '',
  jitterPercent: 0,
};

const status = (more: Partial<PolicyStatus> = {}): PolicyStatus => ({
  name: '',
  metric: 'shop.user',
  limit: 100,
  period: { unit: 'MINUTE', count: 1 },
  periodSeconds: 60,
  burst: undefined,
  remaining: 42,
  resetSeconds: 20,
  isOver: false,
  isShadow: false,
  isQuota: false,
  neverFits: false,
  isNear: false,
  key: 'shop_user_ann_1700000040',
  ...more,
});
const over = (more: Partial<PolicyStatus> = {}) => status({ isOver: true, remaining: 0, ...more });
const HOUR = { period: { unit: 'HOUR', count: 1 }, periodSeconds: 3_600, limit: 1_000 } as const;

/** Overall over when any of these is. */
const headersOf = (
  statuses: readonly PolicyStatus[],
  options: Partial<PolicyHeaderOptions> = {},
) => {
  const isOver = statuses.some((each) => each.isOver && !each.isShadow);
  const headers = policyHeaders(statuses, isOver ? 'OVER_LIMIT' : 'OK', { ...ALL, ...options });
  return Object.fromEntries(headers.map(({ key, value }) => [key, value]));
};

type Row = readonly [
  name: string,
  statuses: readonly PolicyStatus[],
  policy?: string | undefined,
  figures?: string | undefined,
  retryAfter?: string | undefined,
];

const ROWS: readonly Row[] = [
  // The others: test/scenarios/headers*.txt.
  [
    'five minutes, nothing in use',
    [
      status({
        period: { unit: 'MINUTE', count: 5 },
        periodSeconds: 300,
        remaining: 100,
        resetSeconds: 0,
      }),
    ],
    '"100-per-5-minutes";q=100;w=300',
    '"100-per-5-minutes";r=100',
  ],
  [
    'no figures, because the store is away',
    [over({ remaining: undefined, resetSeconds: 1 })],
    '"100-per-minute";q=100;w=60',
    undefined,
    '1',
  ],
  [
    'an ask that never fits, beside another that would',
    [over({ neverFits: true }), over({ ...HOUR })],
    '"100-per-minute";q=100;w=60, "1000-per-hour";q=1000;w=3600',
    '"100-per-minute";r=0;t=20, "1000-per-hour";r=0;t=20',
  ],
  [
    'a hard limit beside a quota, both over',
    [over({ name: 'A', isQuota: true, resetSeconds: 50 }), over({ name: 'B', resetSeconds: 10 })],
    '"A";q=100;w=60, "B";q=100;w=60',
    '"A";r=0;t=50, "B";r=0;t=10',
    '10',
  ],
  [
    'a limit that blocks',
    [over({ limit: 0 }), status({ limit: 0, remaining: 0, name: 'look' })],
    '"0-per-minute";q=0;w=60, "look";q=0;w=60',
    '"0-per-minute";r=0;t=20, "look";r=0;t=20',
    '20',
  ],
];

const CASES = ROWS.map(
  ([name, statuses, policy, figures, retryAfter]) =>
    [name, { statuses, policy, figures, retryAfter }] as const,
);

describe('the headers of an answer', () => {
  it.each(CASES)('are right for %s', (_, { statuses, policy, figures, retryAfter }) => {
    const found = headersOf(statuses);
    expect([found['RateLimit-Policy'], found['RateLimit'], found['Retry-After']]).toEqual([
      policy,
      figures,
      retryAfter,
    ]);
  });

  it('say nothing that is switched off', () => {
    expect(headersOf([over()], { policies: 'off', retryAfter: false })).toEqual({});
    expect(headersOf([status({ isNear: true })], { policies: 'off' })).toEqual({});
  });

  it('give no time to wait where the overall code is OK', () => {
    expect(policyHeaders([over()], 'OK', ALL).map(({ key }) => key)).toEqual([
      'RateLimit-Policy',
      'RateLimit',
    ]);
  });

  it('give no time to wait when no quota will ever admit the ask', () => {
    const quotas = [over({ isQuota: true, neverFits: true })];
    expect(headersOf(quotas)).not.toHaveProperty('Retry-After');
    expect(headersOf([...quotas, over({ isQuota: true })])).toHaveProperty('Retry-After', '20');
  });

  it.each([
    ['the least remaining', [status({ name: 'a' }), status({ name: 'b', remaining: 7 })], 'b'],
    ['the first of equals', [status({ name: 'a' }), status({ name: 'b' })], 'a'],
    ['the last hard limit that is over', [over({ name: 'a' }), over({ name: 'b' })], 'b'],
    ['a hard limit before a quota', [over({ name: 'a' }), over({ name: 'b', isQuota: true })], 'a'],
    ['no shadow rule', [status({ name: 'a' }), over({ name: 'b', isShadow: true })], 'a'],
  ])('speak of %s alone', (_, statuses, name) => {
    const found = headersOf(statuses, { policies: 'nearest' });
    expect(found['RateLimit-Policy']).toBe(`"${name}";q=100;w=60`);
  });

  it('speak of at most 8 limits, the tightest first', () => {
    const many = Array.from({ length: 20 }, (_, i) =>
      status({ name: `n${String(i)}`, remaining: (i * 7) % 20 }),
    );
    const found = headersOf(many)['RateLimit'];
    const left = found?.split(', ').map((item) => /r=(\d+)/.exec(item)?.[1]);
    expect(left).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
  });

  it('tell policies of one name apart, by the order of the descriptors', () => {
    const three = [status({ remaining: 9 }), status({ remaining: 5 }), status({ remaining: 7 })];
    expect(headersOf(three)['RateLimit']).toBe(
      '"100-per-minute-2";r=5;t=20, "100-per-minute-3";r=7;t=20, "100-per-minute";r=9;t=20',
    );
  });

  it('cut a name at 64 characters before they escape it', () => {
    const found = headersOf([status({ name: '"'.repeat(70) })])['RateLimit-Policy'];
    expect(found).toBe(`"${'\\"'.repeat(64)}";q=100;w=60`);
    expect(headersOf([status({ name: '🙂'.repeat(3) })])['RateLimit-Policy']).toMatch(/^"___";/);
  });

  it('hold nothing but a string of structured fields in place of a name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
        const found = headersOf([status({ name })])['RateLimit-Policy'];
        expect(found).toMatch(/^"(?:[ !#-[\]-~]|\\["\\]){1,64}";q=100;w=60$/);
      }),
    );
  });
});

describe('a time that is lengthened', () => {
  it('grows by 0 to so many percent, and by the same share for a key', () => {
    const keys = fc.string({ unit: 'binary' });
    const seconds = fc.integer({ min: 0, max: 315_576_000_000 });
    fc.assert(
      fc.property(keys, seconds, fc.integer({ min: 0, max: 100 }), (key, from, percent) => {
        const to = lengthen(from, key, percent);
        expect(lengthen(from, key, percent)).toBe(to);
        expect(to).toBeGreaterThanOrEqual(from);
        expect(to).toBeLessThanOrEqual(from + (from * percent) / 100);
        if (from <= 1) expect(to).toBe(from);
      }),
    );
  });

  it('differs between counters', () => {
    const ends = Array.from({ length: 100 }, (_, i) => lengthen(1_000, `user_${String(i)}`, 10));
    expect(new Set(ends).size).toBeGreaterThan(50);
    expect(Math.max(...ends)).toBeGreaterThan(1_080);
  });

  it('appears in the figures and in the time to wait', () => {
    const found = headersOf([over({ resetSeconds: 1_000, key: 'user_1' })], { jitterPercent: 10 });
    const expected = String(lengthen(1_000, 'user_1', 10));
    expect(Number(expected)).toBeGreaterThan(1_000);
    expect(found).toMatchObject({
      RateLimit: `"100-per-minute";r=0;t=${expected}`,
      'Retry-After': expected,
    });
  });
});
