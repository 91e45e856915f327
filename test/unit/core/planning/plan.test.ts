import fc from 'fast-check';
import { Coalescer, MAX_MERGED_LENGTH, NOT_MERGED } from '../../../../src/core/planning/coalesce';
import { planBatch, type PlanOptions } from '../../../../src/core/planning/plan';
import {
  createWindowTable,
  secondsUntilReset,
  windowOf,
  windowsAt,
} from '../../../../src/core/planning/windows';
import type { Increment } from '../../../../src/core/ports';
import { compileRules } from '../../../../src/core/rules/compile';
import type { KeyTemplate } from '../../../../src/core/rules/key-template';
import { descriptor, request } from '../../../support/requests';
import { definitionsOf, rulesOf, SOME_MATCH } from '../../../support/rules';
import { createTokens, ROTATION_SECONDS, secretRules } from '../../../support/secret-rules';
import { plain } from '../../../support/limiters';

const NOW = 1_795_240_201;
const options: PlanOptions = { keyPrefix: 'p:', ttlJitterSeconds: 300, holdBack: false };
const rules = rulesOf('shop', [
  { key: 'user', limit: [10, 'HOUR'] },
  { key: 'ip', limit: { requestsPerUnit: 5, unit: 'DAY', name: 'base' } },
  { key: 'vip', limit: { requestsPerUnit: 5, unit: 'DAY', replaces: ['base'] } },
  { key: 'free', limit: { unlimited: true } },
  { key: 'let', rules: [{ key: 'through', limit: [1, 'DAY'] }] },
]);
const hour = { requestsPerUnit: 5, unit: 'HOUR' } as const;
const MONTH = { timeZone: 'UTC', weekStart: 'monday', monthStart: 1 } as const;
const SECRET_RULES = `
domain: shop
descriptors:
  - { key: plain, hash_value: true, rate_limit: { unit: hour, requests_per_unit: 1 } }
  - { key: long, hash_value: true, rate_limit: { unit: hour, unit_multiplier: 2, requests_per_unit: 1 } }
  - { key: gcra, hash_value: true, rate_limit: { unit: hour, requests_per_unit: 1, algorithm: gcra } }
`;
const plan = (requests: Parameters<typeof planBatch>[1], more: Partial<PlanOptions> = {}) =>
  planBatch(rules, requests, windowsAt(NOW), { ...options, ...more }, () => 0.5);

describe('planBatch', () => {
  it('makes the counter key, the time to live and the end of the window', () => {
    const { increments, descriptorHits } = plan([request('shop', ['user=ann'])]);
    expect(increments).toEqual([
      {
        key: 'p:shop_user_ann_1795237200',
        hits: 1,
        limit: 10,
        ttlSeconds: 3_750,
        windowEndSeconds: 1_795_240_800,
        rule: descriptorHits[0]?.limit,
        entries: [{ key: 'user', value: 'ann' }],
        limiter: descriptorHits[0]?.limit.limiter,
        times: 1,
      },
    ]);
    expect(descriptorHits).toMatchObject([
      { hits: 1, increment: 0, cumulativeHits: 1, metric: 'shop.user' },
    ]);
  });

  it('joins equal keys of a batch and remembers where each ask stands', () => {
    const same = request('shop', ['user=ann'], 3);
    const { increments, descriptorHits } = plan([same, request('shop', ['user=bob']), same, same]);
    expect(increments.map(({ hits }) => hits)).toEqual([9, 1]);
    expect(descriptorHits.map((hit) => [hit?.increment, hit?.cumulativeHits])).toEqual([
      [0, 3],
      [1, 1],
      [0, 6],
      [0, 9],
    ]);
  });

  it('lets very long values stand alone, so that they need no map', () => {
    const long = (length: number) => request('shop', [`user=${'x'.repeat(length)}`]);
    const most = MAX_MERGED_LENGTH;
    const { increments, descriptorHits } = plan([
      long(most),
      long(most),
      long(most + 1),
      long(most + 1),
    ]);
    expect(increments.map(({ hits }) => hits)).toEqual([2, 1, 1]);
    expect(descriptorHits.map((hit) => [hit?.increment, hit?.cumulativeHits])).toEqual([
      [0, 1],
      [0, 2],
      [1, 1],
      [2, 1],
    ]);
  });

  it('keeps values apart that differ only at their end', () => {
    const padding = 'x'.repeat(60_000);
    const requests = Array.from({ length: 800 }, (_, i) =>
      request('shop', [`user=${padding}${String(i).padStart(4, '0')}`]),
    );
    expect(plan(requests).increments).toHaveLength(800);
  });

  it('keeps the increments of each request together when they are held back together', () => {
    const both = request('shop', ['user=ann', 'ip=1']);
    const { increments, groupEnds } = plan([both, request('', []), both], { holdBack: true });
    expect(increments).toHaveLength(4);
    expect(groupEnds).toEqual([2, 2, 4]);
  });

  it('joins what a request asks of one counter where it is charged together, looks and what is given back not', () => {
    const sketches = definitionsOf([
      { key: 'u', limit: hour },
      { key: 'v', limit: hour },
    ]);
    const together = compileRules([{ domain: 'shop', isChargedTogether: true, rules: sketches }]);
    const ask = (...hits: readonly (readonly [string, number])[]) =>
      request(
        'shop',
        hits.map(([entry, count]) => descriptor(entry, { hits: count })),
      );
    const most = Number.MAX_SAFE_INTEGER;
    const requests = [
      ask(['u=1', 2], ['v=1', 1], ['u=1', 3], ['u=2', 1], ['u=1', 0], ['u=1', -1], ['u=1', 4]),
      ask(['u=1', 1], ['u=1', most], ['u=1', most - 1]),
    ];
    const { increments, groupEnds } = planBatch(
      together,
      requests,
      windowsAt(NOW),
      options,
      () => 0.5,
    );
    const asked = increments.map(({ key, hits }) => [key.split('_').slice(1, 3).join('='), hits]);
    expect(asked).toEqual([
      ['u=1', 9],
      ['v=1', 1],
      ['u=2', 1],
      ['u=1', 0],
      ['u=1', -1],
      ['u=1', 1],
      ['u=1', most],
      ['u=1', most - 1],
    ]);
    expect(groupEnds).toEqual([5, 8]);
  });

  it('joins equal asks in a row of a kind that looks, no looks, and none whose sum loses digits', () => {
    const gcra = rulesOf('shop', [{ key: 'g', limit: { ...hour, algorithm: 'gcra' } }]);
    const asks = [2, 2, 0, 0, 2, 3, 3, 2 ** 52, 2 ** 52].map((hits) =>
      request('shop', [descriptor('g=1', { hits })]),
    );
    const { increments } = planBatch(gcra, asks, windowsAt(NOW), options, () => 0.5);
    expect(increments.map(({ hits, times }) => [hits, times])).toEqual([
      [2, 2],
      [0, 1],
      [0, 1],
      [2, 1],
      [3, 2],
      [2 ** 52, 1],
      [2 ** 52, 1],
    ]);
    const mixed = ['g=1', 'g=2', 'g=1'].map((entry) => request('shop', [entry]));
    expect(planBatch(gcra, mixed, windowsAt(NOW), options, () => 0.5).increments).toMatchObject([
      { times: 2 },
      { times: 1 },
    ]);
  });

  it('spreads the ends of windows, and not those of counters that end alone', () => {
    const mixed = rulesOf('shop', [
      { key: 'long', limit: { ...hour, unitMultiplier: 2 } },
      { key: 'month', limit: { ...hour, unit: 'MONTH', calendar: MONTH } },
      { key: 'gcra', limit: { ...hour, algorithm: 'gcra' } },
    ]);
    const asked = request('shop', ['long=1', 'month=1', 'gcra=1']);
    const { increments } = planBatch(mixed, [asked], windowsAt(NOW), options, () => 0.5);
    const untilMonthEnds = Date.UTC(2026, 11, 1) / 1_000 - NOW;
    expect(increments.map(({ ttlSeconds }) => ttlSeconds)).toEqual([
      7_200 + 150,
      untilMonthEnds + 150,
      3_600,
    ]);
  });

  it('names a secret value by its token of the start of its window, else by that of now', () => {
    const tokens = createTokens(() => ROTATION_SECONDS + 30);
    const named = secretRules(SECRET_RULES, tokens);
    const windows = windowsAt(ROTATION_SECONDS + 30);
    const asked = request('shop', ['plain=ann', 'long=ann', 'gcra=ann']);
    const { increments } = planBatch(named, [asked], windows, options, () => 0);
    const tokenOf = (key: string, id: number) => tokens.tokenUnder({ key, value: 'ann' }, id);
    expect(increments.map(({ shown }) => shown?.[0]?.value)).toEqual([
      tokenOf('plain', 1),
      tokenOf('long', 1),
      tokenOf('gcra', 2),
    ]);
  });

  it('leaves a replaced rule and its counter alone', () => {
    const { increments, descriptorHits } = plan([request('shop', ['ip=1', 'vip=1', 'user=a'])]);
    expect(increments.map(({ key }) => key)).toEqual([
      'p:shop_vip_1_1795219200',
      'p:shop_user_a_1795237200',
    ]);
    expect(descriptorHits[0]).toBeUndefined();
  });

  it('asks no counter for an unlimited rule, nor where no rule matches', () => {
    const { increments, descriptorHits } = plan([request('shop', ['free=1', 'none=1'], 4)]);
    expect(increments).toEqual([]);
    expect(descriptorHits).toMatchObject([{ increment: -1, hits: 4 }, undefined]);
  });

  it('notes an unknown domain once for each request, with its descriptors', () => {
    const requests = [request('nowhere', ['a=1', 'b=2']), request('nowhere', ['a=1'])];
    expect(plan(requests)).toMatchObject({
      unmet: {
        unknownDomains: [
          { domain: 'nowhere', descriptors: 2 },
          { domain: 'nowhere', descriptors: 1 },
        ],
        unmatched: undefined,
      },
      descriptorHits: [undefined, undefined, undefined],
    });
  });

  it('counts by domain the descriptors that no rule matched, of all requests of a batch', () => {
    const one = request('shop', ['none=1', 'user=a', 'none=2']);
    const matched = request('shop', ['let=1', 'free=1', 'ip=1', 'vip=1', 'let=1']);
    expect(plan([matched]).unmet.unmatched).toBeUndefined();
    const { unmatched } = plan([one, matched, request('', ['none=1']), one]).unmet;
    expect([...(unmatched ?? [])]).toEqual([['shop', 4]]);
  });

  it('says why a request cannot be decided and plans the others', () => {
    const { faults, descriptorHits } = plan([
      request('', ['user=a']),
      request('shop', []),
      request('shop', [descriptor('user=a', { limit: { requestsPerUnit: 1, unit: 0 } })]),
      request('shop', [descriptor('user=a', { hits: 2n ** 63n })]),
      request('shop', [descriptor('user=a', { hits: 2n ** 63n - 1n })]),
      request('shop', [descriptor('user=a', { limit: { requestsPerUnit: 1, unit: 7 } })]),
    ]);
    expect(faults).toEqual([
      'rate limit domain must not be empty',
      'rate limit descriptor list must not be empty',
      expect.stringContaining('unit 0'),
      expect.stringContaining('hits_addend 9223372036854775808'),
      undefined,
      undefined,
    ]);
    expect(descriptorHits).toHaveLength(2);
  });

  it.each([
    ['the own addend of a descriptor', { hits: 4 }, 7, 4],
    ['a look', { hits: 0 }, 7, 0],
    ['the addend of the request', {}, 7, 7],
    ['one, when nobody says', {}, 0, 1],
    ['hits given back', { hits: 3, isNegativeHits: true }, 0, -3],
    ['the addend of the request given back', { isNegativeHits: true }, 2, -2],
    ['a look that gives nothing back', { hits: 0, isNegativeHits: true }, 0, 0],
    ['more than a number can hold', { hits: 9_007_199_254_740_993n }, 0, 9_007_199_254_740_993n],
  ])('takes %s', (_, more, addend, hits) => {
    const { increments } = plan([request('shop', [descriptor('user=a', more)], addend)]);
    expect(increments[0]?.hits).toBe(hits);
  });
});

describe('Coalescer', () => {
  interface One {
    readonly template: KeyTemplate;
    readonly values: string;
    readonly hits: number | bigint;
    readonly limit?: number;
  }
  const templateNamed = (literal: string): KeyTemplate => ({
    literal,
    isDynamic: true,
    parent: undefined,
    depth: 0,
  });
  const [a, b] = [templateNamed('a'), templateNamed('b')];
  /** With the values `1`, `2` and `3` it makes keys that `a` makes of `11`, `12` and `13`. */
  const a1 = templateNamed('a1');
  const createGathering = (separate = false) => {
    const chosen: { increment: number }[] = [];
    const coalescer = new Coalescer(chosen);
    coalescer.startRequest(separate);
    const choose = ({ template, values, hits, limit = 1 }: One): number => {
      const countable = {
        template,
        values,
        limit: { requestsPerUnit: limit, limiter: plain(limit).limiter },
      };
      const joined = coalescer.merge(countable, hits);
      if (joined !== NOT_MERGED) return joined;
      const key = template.literal + values;
      return coalescer.add({
        ...{ key, hits, ...plain(limit), ttlSeconds: 1, windowEndSeconds: 1 },
        ...SOME_MATCH,
      });
    };
    const gather = (one: One): number => {
      const increment = choose(one);
      chosen.push({ increment });
      return increment;
    };
    const gatherRequest = (ones: readonly One[]): number[] => {
      coalescer.startRequest(separate);
      return ones.map(gather);
    };
    return { coalescer, gather, gatherRequest };
  };

  it('never joins across hits that are given back, nor above exact sums', () => {
    const { gather } = createGathering();
    const indexes = [1, -1, 2, Number.MAX_SAFE_INTEGER, 2n ** 60n, 1, 1].map((hits) =>
      gather({ template: a, values: '1', hits }),
    );
    expect(indexes).toEqual([0, 1, 2, 3, 4, 5, 5]);
  });

  it('joins equal values of one template, and of no other', () => {
    const { gather } = createGathering();
    const descriptorHits = [a, b, a, b].flatMap((template) => [
      { template, values: '1', hits: 1 },
      { template, values: '2', hits: 1 },
    ]);
    expect(descriptorHits.map(gather)).toEqual([0, 1, 2, 3, 0, 1, 2, 3]);
  });

  it('keeps all of them apart where counters of a request are decided together', () => {
    const { gather } = createGathering(true);
    const hit = { template: a, values: '1', hits: 1 };
    expect([gather(hit), gather(hit)]).toEqual([0, 1]);
  });

  it('joins looks with hits, and up to the largest exact sum', () => {
    const { gather } = createGathering();
    const hits = [Number.MAX_SAFE_INTEGER - 1, 0, 1, 0, 1];
    expect(hits.map((each) => gather({ template: a, values: '1', hits: each }))).toEqual([
      0, 0, 0, 0, 1,
    ]);
  });

  it('joins equal values with one limit, and with no other', () => {
    const { gather } = createGathering();
    const hits = [5, 100, 100, 5].map((limit) => ({ template: a, values: '1', hits: 1, limit }));
    expect(hits.map(gather)).toEqual([0, 1, 1, 2]);
  });

  it('counts in the order of a request what two templates of it count under one key', () => {
    const { gatherRequest } = createGathering();
    const [one, other] = [
      { template: a, values: '11', hits: 1 },
      { template: a1, values: '1', hits: 1 },
    ];
    expect(gatherRequest([one, other, one, one])).toEqual([0, 1, 2, 2]);
    // Other requests share all that keeps the order of each.
    expect(gatherRequest([other, one])).toEqual([1, 2]);
    expect(gatherRequest([one, other])).toEqual([2, 3]);
  });

  it('compares a descriptor with a bounded number of others of its request', () => {
    const { gatherRequest } = createGathering();
    const hits = Array.from({ length: 100 }, (_, i) => ({
      ...{ template: a, hits: 1 },
      values: String(i),
    }));
    gatherRequest(hits);
    // To compare each with all others would cost their square.
    const again = gatherRequest(hits);
    expect(again.filter((index) => index < 100)).toHaveLength(65);
    expect(new Set(again).size).toBe(100);
  });

  it('changes no count: one by one and joined leave every ask of a request the same counter', () => {
    const one = fc.record({
      template: fc.constantFrom(a, b, a1),
      values: fc.constantFrom('1', '2', '11', '12'),
      hits: fc.integer({ min: -3, max: 5 }),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 40 }), (list) => {
        const counts = new Map<string, number>();
        const count = (key: string, hits: number) => {
          const next = Math.max(0, (counts.get(key) ?? 0) + hits);
          counts.set(key, next);
          return next;
        };
        const alone = list.map(({ template, values, hits }) =>
          count(template.literal + values, hits),
        );

        const { coalescer, gather } = createGathering();
        const indexes = list.map((hit) => {
          const index = gather(hit);
          return { index, upTo: Number(coalescer.increments[index]?.hits) };
        });
        counts.clear();
        const after = coalescer.increments.map(({ key, hits }) => count(key, Number(hits)));
        const joined = indexes.map(
          ({ index, upTo }) =>
            (after[index] ?? NaN) - (Number(coalescer.increments[index]?.hits) - upTo),
        );
        expect(joined).toEqual(alone);
      }),
      { numRuns: 1_000 },
    );
  });
});

it.each([
  ['SECOND', 1_795_240_201, 1],
  ['MINUTE', 1_795_240_200, 59],
  ['HOUR', 1_795_237_200, 599],
  ['DAY', 1_795_219_200, 65_399],
  ['WEEK', 1_795_046_400, 410_999],
  ['MONTH', 1_793_664_000, 1_015_799],
  ['YEAR', 1_766_016_000, 2_311_799],
] as const)('the window of a %s began at %d and ends in %d s', (unit, startSeconds, left) => {
  const { rule } = plan([request('shop', ['user=ann'])]).increments[0] as Increment;
  const windows = windowsAt(NOW);
  expect(windowOf({ ...rule, unit }, windows).startSeconds).toBe(startSeconds);
  expect(secondsUntilReset({ ...rule, unit }, windows)).toBe(left);
});

it('a window that a rule places itself ends in what is left of it', () => {
  const { rule } = plan([request('shop', ['user=ann'])]).increments[0] as Increment;
  const windowAt = (second: number) => ({
    keyEnd: '_own',
    startSeconds: second - 1,
    endSeconds: second + 7,
  });
  expect(secondsUntilReset({ ...rule, windowAt }, windowsAt(NOW))).toBe(7);
  expect(windowOf({ ...rule, windowAt }, windowsAt(NOW)).keyEnd).toBe('_own');
});

it('keeps the windows of a second and makes new ones for the next', () => {
  const windowsOf = createWindowTable();
  const first = windowsOf(NOW + 0.1);
  expect(windowsOf(NOW + 0.9)).toBe(first);
  expect(windowsOf(NOW + 1)).not.toBe(first);
  expect(first.MINUTE).toEqual({
    keyEnd: '_1795240200',
    startSeconds: 1_795_240_200,
    endSeconds: 1_795_240_260,
    secondsUntilReset: 59,
  });
});
