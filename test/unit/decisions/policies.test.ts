import { StoreError } from '../../../src/core/errors';
import type { Decision, Header } from '../../../src/core/model';
import type { CounterBatch, CounterReply } from '../../../src/core/ports';
import type { PolicyOptions } from '../../../src/core/decision/policy-headers';
import type { DecisionOptions } from '../../../src/decisions/decide-batch';
import { createDecider, decisionOf } from '../../support/decider';
import { request } from '../../support/requests';
import { rulesOf } from '../../support/rules';

/** 600 s before the end of an hour, at the start of a minute. */
const NOW = 1_700_002_800 - 600;
const rules = rulesOf('shop', [
  { key: 'minute', limit: [100, 'MINUTE'] },
  { key: 'hour', limit: [1_000, 'HOUR'] },
  { key: 'second', limit: [10, 'SECOND'] },
  { key: 'shadow', limit: [1, 'HOUR'], shadowMode: true },
  { key: 'free', limit: { unlimited: true } },
  { key: 'quotaA', limit: [5, 'HOUR'], quotaMode: true },
  { key: 'quotaB', limit: [5, 'MINUTE'], quotaMode: true },
  { key: 'named', limit: { requestsPerUnit: 7, unit: 'MINUTE', name: 'a "b" ü' } },
  { key: 'allow', limit: [4, 'HOUR'], onStoreError: 'allow' },
  { key: 'deny', limit: [4, 'HOUR'], onStoreError: 'deny' },
  { key: 'local', limit: [4, 'HOUR'], onStoreError: 'local' },
  { key: 'localHundred', limit: [100, 'HOUR'], onStoreError: 'local' },
]);
const ALL: PolicyOptions = {
  policies: 'all',
  retryAfter: true,
  nearHeader: '',
  jitterPercent: 0,
  problemBody: false,
};

interface Setting {
  readonly policies?: Partial<PolicyOptions>;
  readonly options?: Partial<DecisionOptions>;
  /** The counters after the asks, in their order; undefined: the store is away. */
  readonly after?: readonly number[] | undefined;
  readonly hits?: number;
}

async function decide(entries: readonly string[], setting: Setting): Promise<Decision> {
  const add = ({ increments }: CounterBatch): Promise<CounterReply> =>
    setting.after === undefined
      ? Promise.reject(new StoreError('store_unavailable', 'away'))
      : Promise.resolve({
          after: increments.map((_, at) => setting.after?.[at] ?? 0),
          held: undefined,
          failures: undefined,
        });
  const decideBatch = createDecider(
    {
      rules: { current: rules },
      counters: { add },
      localCounters: {
        add: ({ increments }) =>
          Promise.resolve({ after: increments.map(() => 1), held: undefined, failures: undefined }),
      },
      clock: () => NOW,
    },
    { policies: { ...ALL, ...setting.policies }, ...setting.options },
  );
  const { answers } = await decideBatch(request('shop', entries, setting.hits));
  return decisionOf(answers[0]);
}

const textOf = (headers: readonly Header[]) => headers.map(({ key, value }) => `${key}: ${value}`);
const headersOf = async (entries: readonly string[], setting: Setting) =>
  textOf((await decide(entries, setting)).responseHeaders);

it.each<[string, readonly string[], readonly number[], readonly string[]]>([
  [
    'a limit with some left',
    ['minute=a'],
    [58],
    ['RateLimit-Policy: "100-per-minute";q=100;w=60', 'RateLimit: "100-per-minute";r=42;t=60'],
  ],
  [
    'a limit that is over',
    ['minute=a'],
    [101],
    [
      'RateLimit-Policy: "100-per-minute";q=100;w=60',
      'RateLimit: "100-per-minute";r=0;t=60',
      'Retry-After: 60',
    ],
  ],
  [
    'two limits, of which the second is over',
    ['second=a', 'hour=a'],
    [7, 1_001],
    [
      'RateLimit-Policy: "1000-per-hour";q=1000;w=3600, "10-per-second";q=10;w=1',
      'RateLimit: "1000-per-hour";r=0;t=600, "10-per-second";r=3;t=1',
      'Retry-After: 600',
    ],
  ],
  ['a shadow rule that is over', ['shadow=a'], [2], []],
  ['an unlimited rule', ['free=a'], [], []],
  ['no rule', ['none=a'], [], []],
  [
    'two quotas that are over',
    ['quotaA=a', 'quotaB=a'],
    [6, 6],
    [
      'RateLimit-Policy: "5-per-hour";q=5;w=3600, "5-per-minute";q=5;w=60',
      'RateLimit: "5-per-hour";r=0;t=600, "5-per-minute";r=0;t=60',
      'Retry-After: 60',
    ],
  ],
  [
    'a name that no header can hold',
    ['named=a'],
    [1],
    ['RateLimit-Policy: "a \\"b\\" _";q=7;w=60', 'RateLimit: "a \\"b\\" _";r=6;t=60'],
  ],
])('sends for %s what a client can act on', async (_case, entries, after, expected) => {
  expect(await headersOf(entries, { after })).toEqual(expected);
});

it('takes the nearest limit alone where that is asked for', async () => {
  const setting = { after: [7, 100], policies: { policies: 'nearest' } } as const;
  expect(await headersOf(['second=a', 'hour=a'], setting)).toEqual([
    'RateLimit-Policy: "10-per-second";q=10;w=1',
    'RateLimit: "10-per-second";r=3;t=1',
  ]);
});

it('sends figures and no Retry-After while SHADOW_MODE lets all pass', async () => {
  expect(await headersOf(['minute=a'], { after: [101], options: { shadowMode: true } })).toEqual([
    'RateLimit-Policy: "100-per-minute";q=100;w=60',
    'RateLimit: "100-per-minute";r=0;t=60',
  ]);
});

it('sends no Retry-After for an ask that can never fit', async () => {
  const setting = { after: [101], policies: { policies: 'off' } } as const;
  expect(await headersOf(['minute=a'], { ...setting, hits: 100 })).toEqual(['Retry-After: 60']);
  expect(await headersOf(['minute=a'], { ...setting, hits: 101 })).toEqual([]);
});

describe('while the store is away', () => {
  it.each([
    ['allow', ['RateLimit-Policy: "4-per-hour";q=4;w=3600']],
    ['deny', ['RateLimit-Policy: "4-per-hour";q=4;w=3600', 'Retry-After: 1']],
    ['local', ['RateLimit-Policy: "4-per-hour";q=4;w=3600', 'RateLimit: "4-per-hour";r=3;t=600']],
  ])('a rule with on_store_error %s sends what is known', async (key, expected) => {
    expect(await headersOf([`${key}=a`], { after: undefined })).toEqual(expected);
  });
});

describe('the header that says near', () => {
  const near = { policies: 'off', nearHeader: 'x-near' } as const;
  it.each<[string, readonly string[], readonly number[], readonly string[]]>([
    ['at the share itself', ['minute=a'], [80], []],
    ['above the share', ['minute=a'], [81], ['x-near: 1']],
    ['when the limit is used up', ['minute=a'], [100], ['x-near: 1']],
    ['over the limit', ['minute=a'], [101], ['Retry-After: 60']],
    ['by a shadow rule', ['shadow=a'], [1], []],
  ])('%s', async (_case, entries, after, expected) => {
    expect(await headersOf(entries, { after, policies: near })).toEqual(expected);
  });
});

it('measures nearness by the share of the limit that an instance counts by itself', async () => {
  const setting = {
    after: undefined,
    options: { failureReplicas: 10 },
    policies: { policies: 'off', nearHeader: 'x-near' },
  } as const;
  // One of 1 and one of 10.
  expect(await headersOf(['local=a'], setting)).toEqual(['x-near: 1']);
  expect(await headersOf(['localHundred=a'], setting)).toEqual([]);
});

it('lengthens every wait of one counter by the same share, the old header too', async () => {
  const names = { limit: 'L', remaining: 'R', reset: 'T' };
  const setting = { after: [1_001], options: { headers: names }, policies: { jitterPercent: 50 } };
  const lines = await headersOf(['hour=a'], setting);
  const [, , reset, , figures, retry] = lines.map((line) => Number(/\d+$/.exec(line)?.[0]));
  expect(reset).toBeGreaterThan(600);
  expect(reset).toBeLessThanOrEqual(900);
  expect([figures, retry]).toEqual([reset, reset]);
  expect(lines).toHaveLength(6);
  const others = await headersOf(['hour=b'], setting);
  expect(others).not.toEqual(lines);
});

it('leaves the statuses as they are', async () => {
  const plain = await decide(['hour=a'], { after: [1_001], options: { policies: undefined } });
  const full = await decide(['hour=a'], { after: [1_001], policies: { jitterPercent: 100 } });
  expect(full.statuses).toEqual(plain.statuses);
  expect(plain.responseHeaders).toEqual([]);
});

describe('a problem as the body', () => {
  const withBody = { policies: { problemBody: true } };

  it('names the limits that stop the client', async () => {
    const after = [7, 1_001];
    const { rawBody, responseHeaders } = await decide(['second=a', 'hour=a'], {
      ...withBody,
      after,
    });
    expect(JSON.parse(rawBody ?? '')).toEqual({
      type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
      title: 'A rate limit is exceeded',
      'violated-policies': ['1000-per-hour'],
    });
    expect(textOf(responseHeaders).at(-1)).toBe('Content-Type: application/problem+json');
  });

  it('leaves its content type to the proxy where it is untyped', async () => {
    const { rawBody, responseHeaders } = await decide(['hour=a'], {
      policies: { problemBody: true, untypedBody: true },
      after: [1_001],
    });
    expect(rawBody).toContain('"1000-per-hour"');
    expect(textOf(responseHeaders).join()).not.toMatch(/content-type/i);
  });

  it('is not sent with an answer that is OK', async () => {
    const { rawBody, responseHeaders } = await decide(['second=a'], { ...withBody, after: [1] });
    expect(rawBody).toBeUndefined();
    expect(textOf(responseHeaders)).toHaveLength(2);
  });
});
