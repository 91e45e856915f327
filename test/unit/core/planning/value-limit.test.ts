import { planBatch } from '../../../../src/core/planning/plan';
import { createWindowTable } from '../../../../src/core/planning/windows';
import type { ValueLimit } from '../../../../src/core/rules/rules';
import { request } from '../../../support/requests';
import { rulesOf } from '../../../support/rules';

const limitsFrom = { key: 'tenant_limits', refreshMs: 10_000 };
const limit = { requestsPerUnit: 100, unit: 'MINUTE', limitsFrom } as const;
const rules = rulesOf('shop', [
  { key: 'tenant', limit },
  { key: 'second', limit: { ...limit, unit: 'SECOND' } },
  { key: 'shared', value: 'a*', shareThreshold: true, limit },
  { key: 'plain', limit: [5, 'MINUTE'] },
]);
const SAID = new Map<string, ValueLimit>([
  ['ann', 7],
  ['none', 0],
  ['free', 'unlimited'],
  ['a*', 3],
]);

function plan(entries: readonly string[]) {
  const asked: [string, string][] = [];
  const { asks, increments } = planBatch(
    rules,
    [request('shop', entries)],
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
      },
    },
    () => 0,
  );
  return { asks, increments, asked };
}

it('takes the limit that a value has of its own, else that of the rule', () => {
  const { asks, increments } = plan(['tenant=ann', 'tenant=bob', 'tenant=none', 'tenant=free']);
  expect(
    asks.map((ask) => [ask?.limit.requestsPerUnit, ask?.limit.current.requestsPerUnit]),
  ).toEqual([
    [7, 7],
    [100, 100],
    [0, 0],
    [100, 100],
  ]);
  expect(asks.map((ask) => ask?.limit.unlimited)).toEqual([false, false, false, true]);
  expect(increments.map((one) => [one.key, one.limit])).toEqual([
    ['shop_tenant_ann_1699999980', 7],
    ['shop_tenant_bob_1699999980', 100],
    ['shop_tenant_none_1699999980', 0],
  ]);
});

it('asks for rules that have limits elsewhere alone, by the value or the pattern that names the counter', () => {
  const { asked } = plan(['plain=x', 'tenant=ann', 'shared=abc', 'second=s']);
  expect(asked).toEqual([
    ['false 10000 4294967295 tenant_limits', 'ann'],
    ['false 10000 4294967295 tenant_limits', 'a*'],
    ['true 10000 4294967295 tenant_limits', 's'],
  ]);
});

it('makes one limit of what many values share, which knows its rule', () => {
  const { asks } = plan(['tenant=ann', 'tenant=ann', 'tenant=bob']);
  expect(asks[0]?.limit).toBe(asks[1]?.limit);
  expect(asks[0]?.limit.ofRule).toBe(asks[2]?.limit);
});

it('keeps a bounded number of limits', () => {
  const [ask] = plan(['tenant=bob']).asks;
  const limitFor = ask?.limit.limitsFrom?.limitFor;
  const first = limitFor?.(1);
  for (let said = 2; said < 1_000; said += 1) limitFor?.(said);
  expect(limitFor?.(999)).toBe(limitFor?.(999));
  expect(limitFor?.(1)).not.toBe(first);
  expect(limitFor?.(1)).toEqual(first);
});
