import { planBatch } from '../../../../src/core/planning/plan';
import { readValueLimits } from '../../../../src/core/planning/value-limit';
import { createWindowTable } from '../../../../src/core/planning/windows';
import type { DecisionRequest } from '../../../../src/core/model';
import type { Rules, ValueLimit } from '../../../../src/core/rules/rules';
import { budgetOf } from '../../../support/budgets';
import { request } from '../../../support/requests';
import { rulesOf } from '../../../support/rules';
import { createTokens, ROTATION_SECONDS, secretRules } from '../../../support/secret-rules';

const limitsFrom = { key: 'tenant_limits', refreshMs: 10_000 };
const limit = { requestsPerUnit: 100, unit: 'MINUTE', limitsFrom } as const;
const MONTH = { timeZone: 'UTC', weekStart: 'monday', monthStart: 1 } as const;
const RULES = rulesOf('shop', [
  { key: 'tenant', limit },
  { key: 'second', limit: { ...limit, unit: 'SECOND' } },
  { key: 'shared', value: 'a*', shareThreshold: true, limit },
  { key: 'plain', limit: [5, 'MINUTE'] },
  { key: 'gcra', limit: { ...limit, algorithm: 'gcra' } },
  { key: 'burst', limit: { ...limit, algorithm: 'gcra', burst: 20 } },
  { key: 'sliding', limit: { ...limit, algorithm: 'sliding_window' } },
  { key: 'long', limit: { ...limit, unitMultiplier: 5 } },
  { key: 'seconds', limit: { ...limit, unit: 'SECOND', unitMultiplier: 30 } },
  { key: 'month', limit: { ...limit, unit: 'MONTH', calendar: MONTH } },
  {
    key: 'list',
    ...budgetOf([limit, { ...limit, unit: 'HOUR', limitsFrom: undefined }], { reserve: {} }),
  },
  { key: 'sole', ...budgetOf([limit], { reserve: {} }) },
]);
const SAID = new Map<string, ValueLimit>([
  ['ann', 7],
  ['none', 0],
  ['free', 'unlimited'],
  ['a*', 3],
]);

function plan(entries: readonly string[], rules = RULES) {
  return planned(request('shop', entries), rules);
}

function planned(one: DecisionRequest, rules = RULES) {
  const asked: [string, string][] = [];
  const { descriptorHits, increments } = planBatch(
    rules,
    [one],
    createWindowTable()(1_700_000_000),
    {
      keyPrefix: '',
      ttlJitterSeconds: 0,
      holdBack: false,
      limitsFrom: {
        limitOf(rule, value) {
          asked.push([rule.id, value]);
          return SAID.get(value);
        },
        read: () => Promise.resolve(),
      },
    },
    () => 0,
  );
  return { descriptorHits, increments, asked };
}

it('takes the limit that a value has of its own, else that of the rule', () => {
  const { descriptorHits, increments } = plan([
    'tenant=ann',
    'tenant=bob',
    'tenant=none',
    'tenant=free',
  ]);
  expect(
    descriptorHits.map((hit) => [hit?.limit.requestsPerUnit, hit?.limit.current.requestsPerUnit]),
  ).toEqual([
    [7, 7],
    [100, 100],
    [0, 0],
    [100, 100],
  ]);
  expect(descriptorHits.map((hit) => hit?.limit.unlimited)).toEqual([false, false, false, true]);
  expect(increments.map((one) => [one.key, one.limit])).toEqual([
    ['shop_tenant_ann_1699999980', 7],
    ['shop_tenant_bob_1699999980', 100],
    ['shop_tenant_none_1699999980', 0],
  ]);
});

it.each([
  ['gcra=ann', 7, 7, 'shop_gcra_ann_60s~g4'],
  ['burst=ann', 7, 20, 'shop_burst_ann_60s~g4'],
  ['sliding=ann', 7, 7, 'shop_sliding_ann_60s~l4'],
  ['gcra=none', 0, 0, 'shop_gcra_none_60s~g4'],
  ['long=ann', 7, undefined, 'shop_long_ann_1699999800'],
  ['month=ann', 7, undefined, 'shop_month_ann_1698796800~c4'],
])('counts %s as its rule does, by the limit of the value', (entry, requests, size, key) => {
  const { descriptorHits, increments } = plan([entry]);
  expect(descriptorHits[0]?.limit).toMatchObject({ requestsPerUnit: requests });
  const { kind, ...limiter } = descriptorHits[0]?.limit.limiter ?? {};
  expect(kind?.readsFirst).toBe(size !== undefined);
  expect(limiter).toMatchObject({ limit: requests, size: size ?? requests });
  expect(increments[0]).toMatchObject({ key, limit: requests });
});

it('takes no limit that the algorithm cannot count, and reads limits of one second alone beside their counters', () => {
  const from = (entry: string) => plan([entry]).descriptorHits[0]?.limit.limitsFrom;
  expect(['tenant=bob', 'gcra=bob', 'sliding=bob'].map((entry) => from(entry)?.maxLimit)).toEqual([
    4_294_967_295, 50_000_000, 50_000_000,
  ]);
  expect(
    ['second=bob', 'seconds=bob', 'tenant=bob'].map((entry) => from(entry)?.isPerSecond),
  ).toEqual([true, false, false]);
});

it('asks for rules that have limits elsewhere alone, by the value or the pattern that names the counter', () => {
  const { asked } = plan(['plain=x', 'tenant=ann', 'shared=abc', 'second=s']);
  expect(asked).toEqual([
    ['false 10000 4294967295 tenant_limits', 'ann'],
    ['false 10000 4294967295 tenant_limits', 'a*'],
    ['true 10000 4294967295 tenant_limits', 's'],
  ]);
});

it('asks for limits of a list in the store that counts the list, whichever of them hold', () => {
  const second = { ...limit, unit: 'SECOND' } as const;
  const hour = { name: 'long', unit: 'HOUR', requestsPerUnit: 9 } as const;
  const lists = rulesOf('shop', [
    { key: 'mixed', ...budgetOf([second, hour]) },
    { key: 'fast', ...budgetOf([second, { ...second, algorithm: 'gcra' }]) },
    { key: 'vip', limit: { ...hour, name: '', replaces: ['long'] } },
  ]);
  const asked = (...entries: readonly string[]) =>
    plan(entries, lists).asked.map(([id]) => id.split(' ')[0]);
  expect([asked('mixed=x'), asked('mixed=x', 'vip=x')]).toEqual([['false'], ['false']]);
  expect(asked('fast=x')).toEqual(['true', 'true']);
});

it('makes one limit of what many values share, which knows its rule', () => {
  const { descriptorHits } = plan(['tenant=ann', 'tenant=ann', 'tenant=bob']);
  expect(descriptorHits[0]?.limit).toBe(descriptorHits[1]?.limit);
  expect(descriptorHits[0]?.limit.ofRule).toBe(descriptorHits[2]?.limit);
});

it('keeps a bounded number of limits', () => {
  const [hit] = plan(['tenant=bob']).descriptorHits;
  const limitFor = hit?.limit.limitsFrom?.limitFor;
  const first = limitFor?.(1);
  for (let said = 2; said < 1_000; said += 1) limitFor?.(said);
  expect(limitFor?.(999)).toBe(limitFor?.(999));
  expect(limitFor?.(1)).not.toBe(first);
  expect(limitFor?.(1)).toEqual(first);
});

it('asks for a secret value by its token of now', () => {
  const tokens = createTokens(() => ROTATION_SECONDS);
  const text = `
domain: shop
descriptors:
  - key: tenant
    hash_value: true
    rate_limit: { unit: day, requests_per_unit: 1, limits_from: { key: tenant_limits } }
`;
  const { asked } = plan(['tenant=ann'], secretRules(text, tokens));
  expect(asked.map(([, value]) => value)).toEqual([
    tokens.tokenUnder({ key: 'tenant', value: 'ann' }, 2),
  ]);
});

describe('operators who ask for the limits of a request now', () => {
  const plainRules = rulesOf('shop', [{ key: 'tenant', limit: [5, 'MINUTE'] }]);

  async function readOf(rules: Rules, domain: string): Promise<readonly string[]> {
    const values: string[] = [];
    const asked = request(domain, ['tenant=ann', 'plain=x', 'nobody=y', 'shared=abc', 'second=s']);
    await readValueLimits(rules, asked, {
      limitOf: () => undefined,
      read: async (_, value) => {
        await Promise.resolve();
        values.push(value);
      },
    });
    return values;
  }

  it('wait for those of all values whose rules have limits elsewhere', async () => {
    expect(await readOf(RULES, 'shop')).toEqual(['ann', 'a*', 's']);
  });

  it.each([
    ['in a domain without rules', RULES, 'nowhere'],
    ['where no rule has limits elsewhere', plainRules, 'shop'],
  ])('wait for none %s', async (_, rules, domain) => {
    expect(await readOf(rules, domain)).toEqual([]);
  });

  it('wait for none where limits elsewhere mean nothing', async () => {
    const asked = request('shop', ['tenant=ann']);
    await expect(readValueLimits(RULES, asked, undefined)).resolves.toBeUndefined();
  });
});

it('takes the limit of a value for each of several limits that asks for it, by the entry before the id of a reservation', () => {
  const limitsOf = (descriptor: string) => {
    const [hit] = plan([descriptor]).descriptorHits;
    const holding = hit?.limit.budget?.chosen.filter((one) => one !== undefined);
    const entries = holding?.map(({ requestsPerUnit }) => requestsPerUnit);
    return hit?.limit.unlimited === true ? 'unlimited' : entries;
  };
  expect(limitsOf('list=ann')).toEqual([7, 100]);
  expect(limitsOf('list=bob')).toEqual([100, 100]);
  expect(limitsOf('list=free')).toEqual([100]);
  expect(limitsOf('sole=free')).toBe('unlimited');
  const reserved = {
    ...request('shop', []),
    descriptors: [
      {
        entries: [
          { key: 'list', value: 'ann' },
          { key: 'reserve', value: 'bob' },
        ],
        limit: undefined,
        hits: undefined,
        isNegativeHits: false,
      },
    ],
  };
  expect(planned(reserved).descriptorHits[0]?.limit).toMatchObject({
    reservation: 'reserve',
    budget: { entries: [{ requestsPerUnit: 7 }, { requestsPerUnit: 100 }] },
  });
});
