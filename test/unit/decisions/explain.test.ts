import { explanationText } from '../../../src/core/explain/to-text';
import type { Explanation, NoLimitReason } from '../../../src/core/explain/explanation';
import type { DecisionRequest, RequestDescriptor } from '../../../src/core/model';
import type { CounterReading, LimitsFrom } from '../../../src/core/ports';
import { compileRules } from '../../../src/core/rules/compile';
import type { Rules, ValueLimit } from '../../../src/core/rules/rules';
import { StoreError } from '../../../src/core/errors';
import { createDryCounters } from '../../../src/counters/dry-counters';
import type { DecisionOptions } from '../../../src/decisions/decide-batch';
import { explainRequest } from '../../../src/decisions/explain';
import { runSteps } from '../../support/run-steps';
import { PLAIN_DECISIONS } from '../../support/decider';
import { definitionsOf, rulesOf } from '../../support/rules';

const OPTIONS: DecisionOptions = {
  ...PLAIN_DECISIONS,
  ttlJitterSeconds: 300,
  headers: { limit: 'RateLimit-Limit', remaining: 'RateLimit-Remaining', reset: 'RateLimit-Reset' },
};

const place = { file: 'shop.yaml', at: { line: 3, column: 5 }, limitAt: { line: 4, column: 7 } };
const RULES = rulesOf('shop', [
  { key: 'user', limit: [10, 'MINUTE'], place },
  { key: 'leased', limit: { requestsPerUnit: 10, unit: 'MINUTE', leased: true } },
  { key: 'free', limit: { unlimited: true } },
  {
    key: 'tenant',
    limit: {
      requestsPerUnit: 100,
      unit: 'MINUTE',
      unitMultiplier: 5,
      algorithm: 'gcra',
      limitsFrom: { key: 'plans', refreshMs: 10_000 },
    },
  },
  { key: 'shadow', limit: [1, 'MINUTE'], shadowMode: true },
  { key: 'quota', limit: [1, 'MINUTE'], quotaMode: true },
  { key: 'other', limit: [1, 'MINUTE'], quotaMode: true },
  { key: 'old', limit: { requestsPerUnit: 5, unit: 'MINUTE', name: 'old' } },
  { key: 'new', limit: { requestsPerUnit: 6, unit: 'MINUTE', replaces: ['old'] } },
  { key: 'deep', value: '1', rules: [{ key: 'path', limit: [1, 'MINUTE'] }] },
  { key: 'way', value: 'taken' },
  { key: 'way', limit: [1, 'MINUTE'] },
  { key: 'group' },
]);

const hit = (text: string, more: Partial<RequestDescriptor> = {}): RequestDescriptor => ({
  entries: text.split(',').map((pair) => {
    const [key = '', value = ''] = pair.split('=');
    return { key, value };
  }),
  limit: undefined,
  hits: undefined,
  isNegativeHits: false,
  ...more,
});

const requestOf = (descriptors: readonly RequestDescriptor[]): DecisionRequest => ({
  domain: 'shop',
  descriptors,
  hitsAddend: 0,
});

interface Setup {
  readonly counts?: Readonly<Record<string, number>>;
  readonly error?: StoreError;
  readonly options?: Partial<DecisionOptions>;
  readonly isKnown?: boolean;
  readonly rules?: Rules;
  readonly lease?: { readonly left: number; readonly of: number };
}

async function explain(
  request: DecisionRequest,
  { counts = {}, error, options = {}, isKnown = false, rules = RULES, lease }: Setup = {},
) {
  const read = (key: string): CounterReading => ({
    count: counts[key] ?? 0,
    expiresInSeconds: counts[key] === undefined ? undefined : 42,
    store: 'memory',
    error,
  });
  const explanation = await runSteps(
    explainRequest(
      request,
      {
        rules,
        reader: { read: (places) => Promise.resolve(places.map(({ key }) => read(key))) },
        dryCounters: createDryCounters,
        knows: () => isKnown,
        leaseOf: () => lease,
        nowSeconds: 70,
      },
      { ...OPTIONS, ...options },
    ),
  );
  if ('kind' in explanation) throw new Error(explanation.message);
  return explanation;
}

/** Limits in a hash, of which an instance knows what it has read. */
function limitsFrom(hash: Readonly<Record<string, ValueLimit>>): LimitsFrom {
  const known = new Map<string, ValueLimit>();
  return {
    limitOf: (_, value) => known.get(value),
    read: (_, value) => {
      const said = hash[value];
      if (said !== undefined) known.set(value, said);
      return Promise.resolve();
    },
  };
}

describe('an explanation of a limit of its value', () => {
  const options = { limitsFrom: limitsFrom({ big: 5_000, free: 'unlimited' }) };
  const lines = async (entry: string) => {
    const counts = { [`shop_${entry.replace('=', '_')}_300s~g4`]: 0 };
    return explanationText(await explain(requestOf([hit(entry)]), { options, counts })).split('\n');
  };

  it('reads it first, and says where it comes from', async () => {
    const { descriptors } = await explain(requestOf([hit('tenant=big')]), { options });
    expect(descriptors[0]?.limit).toEqual({
      requestsPerUnit: 5_000,
      unit: 'MINUTE',
      algorithm: 'gcra',
      words: '5000 per 5 minutes, bursts of 5000',
      shadowMode: false,
      quotaMode: false,
      limitsFrom: { key: 'plans', field: 'big', value: 5_000 },
    });
    expect(await lines('tenant=big')).toContain(
      '    limit 5000 per 5 minutes, bursts of 5000 (gcra, the field "big" of the hash plans is 5000)',
    );
  });

  it('says that the limit of the rule holds where there is none', async () => {
    expect(await lines('tenant=bob')).toContain(
      '    limit 100 per 5 minutes, bursts of 100, for values without a field in plans (gcra, the field "bob" of the hash plans holds no limit)',
    );
  });

  it('says that a value is unlimited', async () => {
    expect(await lines('tenant=free')).toContain(
      '    no limit: unlimited: the field "free" of the hash plans is unlimited: its hits are counted in statistics only',
    );
  });
});

describe('an explanation', () => {
  it('has limit, counter and what would be answered, with their places', async () => {
    const counts = { shop_user_ann_60: 9 };
    const explanation = await explain(requestOf([hit('user=ann')]), { counts, isKnown: true });
    expect(explanation).toEqual({
      overallCode: 'OK',
      because: 'no descriptor is over its limit',
      descriptors: [
        {
          entries: ['user=ann'],
          path: [{ entry: 'user=ann', matched: 'any value', rule: 'user', at: 'shop.yaml:3:5' }],
          limit: {
            requestsPerUnit: 10,
            unit: 'MINUTE',
            algorithm: 'fixed_window',
            shadowMode: false,
            quotaMode: false,
            at: 'shop.yaml:4:7',
          },
          metric: 'shop.user',
          counter: {
            key: 'shop_user_ann_60',
            store: 'memory',
            count: 9,
            expiresInSeconds: 42,
            cachedOverLimit: true,
          },
          ifAsked: { hits: 1, code: 'OK', remaining: 0, resetSeconds: 50 },
        },
      ],
      responseHeaders: [
        ['RateLimit-Limit', '10'],
        ['RateLimit-Remaining', '0'],
        ['RateLimit-Reset', '50'],
      ],
    });
  });

  it('says of an unlimited rule, and of one that another replaces, why there is no limit', async () => {
    const { descriptors } = await explain(requestOf([hit('free=1'), hit('old=1'), hit('new=1')]));
    expect(descriptors.map(({ noLimit }) => noLimit?.reason)).toEqual([
      'unlimited',
      'replaced',
      undefined,
    ]);
    expect(descriptors[0]?.noLimit?.hint).toBe(
      'the rule is unlimited: its hits are counted in statistics only',
    );
    expect(descriptors[1]?.noLimit?.hint).toBe(
      'the rule shop.new of descriptors[2] replaces "old"',
    );
  });

  it('has a word for every reason why nothing is limited', async () => {
    const cases: Record<NoLimitReason, DecisionRequest> = {
      unknown_domain: { ...requestOf([hit('user=a')]), domain: 'shpo' },
      no_entry_for_key: requestOf([hit('usr=a')]),
      no_entry_for_value: requestOf([hit('deep=x')]),
      too_deep: requestOf([hit('user=a,path=/')]),
      too_shallow: requestOf([hit('deep=1')]),
      no_backtracking: requestOf([hit('way=taken')]),
      rule_has_no_limit: requestOf([hit('group=a')]),
      unlimited: requestOf([hit('free=a')]),
      replaced: requestOf([hit('old=a'), hit('new=a')]),
    };
    for (const [reason, request] of Object.entries(cases)) {
      const { descriptors } = await explain(request);
      const [first] = descriptors;
      expect(first?.noLimit).toMatchObject({ reason, hint: expect.stringMatching(/\w/) as string });
      expect([first?.limit, first?.counter, first?.ifAsked]).toEqual(Array(3).fill(undefined));
    }
  });

  it("shows the request's own limit, and that it is ignored in an unknown domain", async () => {
    const own = hit('any=1', { limit: { requestsPerUnit: 3, unit: 2 } });
    const { descriptors } = await explain(requestOf([own]));
    expect(descriptors[0]).toMatchObject({
      path: [],
      limit: { requestsPerUnit: 3, source: 'request' },
      ifAsked: { code: 'OK', remaining: 2 },
    });
    const ruled = await explain(
      requestOf([hit('user=ann', { limit: { requestsPerUnit: 3, unit: 2 } })]),
    );
    expect(ruled.descriptors[0]?.path).toEqual([]);
    const unknown = await explain({ ...requestOf([own]), domain: 'shpo' });
    expect(unknown.descriptors[0]?.path).toEqual([]);
    expect(unknown.descriptors[0]?.noLimit).toMatchObject({
      reason: 'unknown_domain',
      also: 'override_ignored',
    });
    const plain = await explain({ ...requestOf([hit('a=1')]), domain: 'shpo' });
    expect(plain.descriptors[0]?.noLimit?.also).toBeUndefined();
  });

  it.each<readonly [string, string, Setup, string]>([
    [
      'user=a',
      'OVER_LIMIT',
      { counts: { shop_user_a_60: 10 } },
      'descriptors[0] is over a limit that is not a quota',
    ],
    ['quota=a', 'OVER_LIMIT', { counts: { shop_quota_a_60: 1 } }, 'every quota is over'],
    [
      'shadow=a',
      'OK',
      { counts: { shop_shadow_a_60: 1 } },
      'descriptors[0] is over a limit in shadow mode, which never refuses',
    ],
    [
      'user=a',
      'OK',
      { counts: { shop_user_a_60: 10 }, options: { shadowMode: true } },
      'descriptors[0] is over its limit, and SHADOW_MODE answers OK',
    ],
    [
      'quota=a',
      'OK',
      { counts: { shop_quota_a_60: 1 }, options: { shadowMode: true } },
      'descriptors[0] is over its limit, and SHADOW_MODE answers OK',
    ],
    ['shadow=a', 'OK', { counts: { shop_shadow_a_60: 0 } }, 'no descriptor is over its limit'],
    ['quota=a', 'OK', {}, 'no descriptor is over its limit'],
    ['user=a', 'OK', { options: { shadowMode: true } }, 'no descriptor is over its limit'],
    ['none=a', 'OK', {}, 'no descriptor matches a limit'],
  ])('of %s is %s, because of what it says', async (text, code, setup, reason) => {
    const { overallCode, because } = await explain(requestOf([hit(text)]), setup);
    expect([overallCode, because]).toEqual([code, reason]);
  });

  it('says that nothing is over where one descriptor of two has no limit', async () => {
    const { because } = await explain(requestOf([hit('none=a'), hit('user=a')]));
    expect(because).toBe('no descriptor is over its limit');
  });

  it('says that one quota of two is over', async () => {
    const counts = { shop_quota_a_60: 1 };
    const request = requestOf([hit('quota=a'), hit('other=a')]);
    const { overallCode, because } = await explain(request, { counts });
    expect([overallCode, because]).toEqual([
      'OK',
      'descriptors[0] is over its quota, and another quota is not',
    ]);
  });

  it('says what is left on lease here, and answers from it', async () => {
    const setup = { counts: { shop_leased_a_60: 10 }, lease: { left: 3, of: 5 } };
    const ask = (hits: number) => requestOf([hit('leased=a', { hits })]);
    const within = await explain(ask(3), setup);
    expect(within).toMatchObject({ overallCode: 'OK', because: 'no descriptor is over its limit' });
    expect(within.descriptors[0]).toMatchObject({
      counter: { count: 10, lease: { left: 3, of: 5 } },
      ifAsked: { code: 'OK', remaining: 0 },
    });
    expect(explanationText(within)).toContain(
      'count 10, expires in 42 seconds, on lease: 3 of 5 are left here',
    );
    expect((await explain(ask(4), setup)).overallCode).toBe('OVER_LIMIT');
    const own = hit('leased=a', { limit: { requestsPerUnit: 10, unit: 2 } });
    expect((await explain(requestOf([own]), setup)).overallCode).toBe('OVER_LIMIT');
  });

  it('explains all the same when the store does not answer', async () => {
    const error = new StoreError('store_unavailable', 'r1:6379: connection refused');
    const explanation = await explain(requestOf([hit('user=ann')]), { error });
    expect(explanation.overallCode).toBeUndefined();
    expect(explanation.because).toBe('the counter store cannot be reached');
    expect(explanation.responseHeaders).toEqual([]);
    expect(explanation.descriptors[0]).toMatchObject({
      limit: { requestsPerUnit: 10 },
      counter: { error: 'r1:6379: connection refused' },
    });
    expect(explanation.descriptors[0]?.counter?.count).toBeUndefined();
    expect(explanation.descriptors[0]?.ifAsked).toBeUndefined();
  });

  it('answers what on_store_error answers', async () => {
    const error = new StoreError('store_unavailable', 'away');
    const options = { onStoreError: 'allow' as const };
    const { overallCode } = await explain(requestOf([hit('user=ann')]), { error, options });
    expect(overallCode).toBe('OK');
  });

  it('notes hits that are given back and looks', async () => {
    const request = requestOf([
      hit('user=a', { hits: 2, isNegativeHits: true }),
      hit('shadow=a', { hits: 0 }),
    ]);
    const { descriptors } = await explain(request, { counts: { shop_user_a_60: 5 } });
    expect(descriptors.map(({ notes }) => notes)).toEqual([
      ['the hits are given back'],
      [
        'shadow mode: counted and reported, never refused',
        'a request with 0 hits reads the counter and adds nothing',
      ],
    ]);
    expect(descriptors[0]?.ifAsked).toMatchObject({ hits: -2, remaining: 7 });
  });

  it('holds back what the service would hold back', async () => {
    const request = requestOf([hit('user=a'), hit('user=b')]);
    const counts = { shop_user_a_60: 10, shop_user_b_60: 3 };
    const { descriptors } = await explain(request, { counts, options: { holdBack: true } });
    expect(descriptors.map(({ ifAsked }) => ifAsked?.remaining)).toEqual([0, 7]);
  });

  it('refuses a request that makes no sense as the service does', async () => {
    await expect(explain(requestOf([]))).rejects.toThrow('descriptor list must not be empty');
  });
});

it('does not explain a request that the service itself could not decide', async () => {
  const deps = {
    rules: RULES,
    reader: { read: () => Promise.resolve([]) },
    dryCounters: () => ({ add: () => Promise.resolve(undefined as never) }),
    knows: () => false,
    nowSeconds: 70,
  };
  const explained = runSteps(explainRequest(requestOf([hit('user=ann')]), deps, OPTIONS));
  await expect(explained).rejects.toMatchObject({
    message: 'the request could not be explained',
    cause: expect.any(TypeError) as unknown,
  });
});

describe('the text of an explanation', () => {
  const rules = {
    version: 'sha256:3f9c',
    loadedAt: '2026-11-22T13:00:00Z',
    source: 'files',
  } as const;
  const textOf = async (request: DecisionRequest, setup: Setup = {}) => {
    const explanation: Explanation = { ...(await explain(request, setup)), rules };
    return explanationText(explanation).split('\n');
  };

  it('has a line for each level, indented', async () => {
    const counts = { shop_user_ann_60: 10 };
    expect(await textOf(requestOf([hit('user=ann')]), { counts, isKnown: true })).toEqual([
      'overall: OVER_LIMIT, because descriptors[0] is over a limit that is not a quota',
      'rules: sha256:3f9c of files, loaded 2026-11-22T13:00:00Z',
      'user=ann',
      '  user=ann: the rule user (any value, shop.yaml:3:5)',
      '    limit 10 per minute (fixed_window, shop.yaml:4:7)',
      '    metric shop.user',
      '    counter shop_user_ann_60 in memory: count 10, expires in 42 seconds, cached as over the limit',
      '    for 1 more: OVER_LIMIT, remaining 0, resets in 50 seconds',
      'header RateLimit-Limit: 10',
      'header RateLimit-Remaining: 0',
      'header RateLimit-Reset: 50',
      '',
    ]);
  });

  it('says of a domain that charges together that nothing is charged while one refuses', async () => {
    const sketches = definitionsOf([
      { key: 'user', limit: [1, 'MINUTE'] },
      { key: 'team', limit: [5, 'MINUTE'] },
    ]);
    const asked = requestOf([hit('user=a'), hit('team=t')]);
    const counts = { shop_user_a_60: 1, shop_team_t_60: 2 };
    const of = (isChargedTogether: boolean) =>
      compileRules([{ domain: 'shop', rules: sketches, isChargedTogether }]);
    const [, line, ...others] = await textOf(asked, { counts, rules: of(true) });
    expect(line).toBe('charge: together: nothing is charged while one refuses');
    // The team of the refused request is not charged.
    expect(others).toContain('    for 1 more: OK, remaining 3, resets in 50 seconds');
    const apart = await textOf(asked, { counts, rules: of(false) });
    expect(apart.join('\n')).not.toContain('charge:');
    expect(apart).toContain('    for 1 more: OK, remaining 2, resets in 50 seconds');
  });

  it('says why there is no limit', async () => {
    const lines = await textOf(requestOf([hit('usr=ann')]));
    expect(lines.join('\n')).toContain('no limit: no_entry_for_key: level 1 has no key "usr"');
  });

  it('says that a counter could not be read, and what a store that is away leaves open', async () => {
    const error = new StoreError('store_unavailable', 'away');
    const text = (await textOf(requestOf([hit('shadow=1'), hit('quota=1')]), { error })).join('\n');
    expect(text).toContain('overall: unknown, because the counter store cannot be reached');
    expect(text).toContain('not read: away');
    expect(text).toContain('shadow mode');
    expect(text).toContain('quota mode');
  });

  it("says that a limit is the request's own, that it is ignored, its name and the order", async () => {
    const own = hit('any=1', { limit: { requestsPerUnit: 3, unit: 2 } });
    expect((await textOf(requestOf([own]))).join('\n')).toContain('of the request itself');
    const ignored = await textOf({ ...requestOf([own]), domain: 'x' });
    expect(ignored.join('\n')).toContain("the request's own limit is ignored");
    expect((await textOf(requestOf([hit('old=1')]))).join('\n')).toContain('name "old"');
  });
});
