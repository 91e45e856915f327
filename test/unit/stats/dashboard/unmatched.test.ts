import type { Entry } from '../../../../src/core/model';
import type { PendingRequest } from '../../../../src/core/ports';
import { Unmatched } from '../../../../src/stats/dashboard/unmatched';
import { rulesOf } from '../../../support/rules';

const RULES = rulesOf('shop', [{ key: 'user', limit: [2, 'MINUTE'] }]);

function pending(domain: string, ...descriptors: readonly Entry[][]): PendingRequest {
  const limit = undefined;
  return {
    request: {
      domain,
      descriptors: descriptors.map((entries) => ({
        entries,
        limit,
        hits: undefined,
        isNegativeHits: false,
      })),
      hitsAddend: 0,
    },
    responder: { answer: () => true },
    callId: 0,
  };
}

const entry = (key: string, value = 'x'): Entry => ({ key, value });

it('counts descriptors without a rule by their keys, the most frequent first', () => {
  const unmatched = new Unmatched(() => 0);
  unmatched.record(RULES, [
    pending('shop', [entry('user')], [entry('plan', 'free'), entry('user')]),
    pending('shop', [entry('user'), entry('path')]),
    pending('shop', [entry('user', 'ann'), entry('path', '/a')]),
  ]);
  const path = { domain: 'shop', keys: ['user', 'path'], example: ['x', 'x'], further: 0 };
  const plan = { domain: 'shop', keys: ['plan', 'user'], example: ['free', 'x'], further: 0 };
  expect(unmatched.take(2)).toEqual([
    { ...path, perSecond: 1, total: 2 },
    { ...plan, perSecond: 0.5, total: 1 },
  ]);
  expect(unmatched.take(1)).toMatchObject([
    { ...path, perSecond: 0, total: 2 },
    { ...plan, total: 1 },
  ]);
  unmatched.clear();
  expect(unmatched.take(1)).toEqual([]);
});

it('tells domains without rules apart, and leaves invalid requests out', () => {
  const unmatched = new Unmatched(() => 0);
  unmatched.record(RULES, [
    pending('staging', [entry('user')], [entry('path')]),
    pending('', [entry('user')]),
    pending('shop'),
  ]);
  expect(unmatched.take(1)).toEqual([
    { domain: 'staging', keys: undefined, example: [], further: 0, perSecond: 2, total: 2 },
  ]);
});

it('keeps the last 20 shapes, and little of each', () => {
  const unmatched = new Unmatched(() => 0);
  for (let i = 0; i < 30; i++)
    unmatched.record(RULES, [pending('shop', [entry(`key-${String(i)}`)])]);
  const keys = unmatched.take(1).map((shape) => shape.keys?.[0]);
  expect(keys).toHaveLength(20);
  expect(keys).not.toContain('key-9');
  unmatched.clear();
  const long = Array.from({ length: 9 }, () => entry('k'.repeat(9_000), 'v'.repeat(9_000)));
  unmatched.record(RULES, [pending('d'.repeat(9_000), [entry('k')]), pending('shop', long)]);
  const kept = JSON.stringify(unmatched.take(1));
  expect(kept.length).toBeLessThan(2_000);
  expect(kept).toContain('"further":3');
});

it('inspects a share of the batches of a busy service, weighed for all', () => {
  const draws = [0.1, 0.9];
  const unmatched = new Unmatched(() => draws.shift() ?? 0.9);
  const busy = Array.from({ length: 4_000 }, () => pending('shop', [entry('plan')]));
  unmatched.record(RULES, busy);
  expect(unmatched.take(1)).toMatchObject([{ total: 2_000 }]);
  const one = [pending('shop', [entry('plan')])];
  unmatched.record(RULES, one);
  unmatched.record(RULES, one);
  expect(unmatched.take(1)).toMatchObject([{ perSecond: 2, total: 2_002 }]);
});
