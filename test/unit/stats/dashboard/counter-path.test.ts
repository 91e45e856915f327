import fc from 'fast-check';
import { planBatch } from '../../../../src/core/planning/plan';
import { windowsAt } from '../../../../src/core/planning/windows';
import type { RequestDescriptor } from '../../../../src/core/model';
import { pathOf } from '../../../../src/stats/dashboard/rule-tree';
import { descriptor, request } from '../../../support/requests';
import { rulesOf } from '../../../support/rules';

const rules = rulesOf('my_shop', [
  { key: 'user', limit: [2, 'HOUR'], rules: [{ key: 'path', limit: [3, 'DAY'] }] },
  { key: 'user', value: 'ann_lee', limit: [9, 'MINUTE'] },
  { key: 'path', value: '/files/*', shareThreshold: true, limit: [5, 'SECOND'] },
  { key: 'path', value: '/own/*', limit: [5, 'SECOND'] },
  { key: '', limit: [7, 'HOUR'] },
]);

/** The path of what a descriptor counts, and the limit that it has. */
function follow(one: RequestDescriptor) {
  const options = { keyPrefix: '', ttlJitterSeconds: 1, holdBack: false };
  const plan = planBatch(rules, [request('my_shop', [one])], windowsAt(0), options, () => 0);
  const [increment] = plan.increments;
  return { path: increment && pathOf(rules, increment), limit: plan.descriptorHits[0]?.limit };
}

describe('the path of a counter', () => {
  it.each([
    [['user=bob'], [['user', 'bob']]],
    [['user=a_b_c'], [['user', 'a_b_c']]],
    [['user='], [['user', '']]],
    [['user=ann_lee'], [['user', 'ann_lee']]],
    [['user=x', 'path=/a_b'], [['user', 'x'], ['path', '/a_b']]], // prettier-ignore
    [['path=/own/a'], [['path', '/own/a']]],
  ])('of %j is its entries', (entries, shown) => {
    expect(follow(descriptor(entries)).path).toMatchObject({ domain: 'my_shop', entries: shown });
  });

  it('shows the pattern where all values share one counter', () => {
    expect(follow(descriptor('path=/files/a')).path?.entries).toEqual([['path', '/files/*']]);
  });

  it.each([['user=bob'], ['=x'], ['elsewhere=1']])(
    'has no entries and no rule where the request brought the limit: %s',
    (entry) => {
      const limit = { requestsPerUnit: 77, unit: 3 };
      const { path } = follow(descriptor(entry, { limit }));
      expect(path).toEqual({ domain: 'my_shop', entries: undefined, rule: undefined });
    },
  );

  it('names the rule that matched, whatever the texts are', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '_', '/'), maxLength: 4 });
    const entries = fc.oneof(
      fc.tuple(fc.tuple(fc.constantFrom('user', 'path', ''), text)),
      fc.tuple(fc.tuple(fc.constant('user'), text), fc.tuple(fc.constant('path'), text)),
    );
    fc.assert(
      fc.property(entries, (pairs) => {
        const { path, limit } = follow(descriptor(pairs.map(([key, value]) => `${key}=${value}`)));
        fc.pre(path !== undefined);
        expect(path.rule).toBe(limit);
        expect(path.entries).toEqual(pairs);
      }),
    );
  });

  it('is cut to what can be shown', () => {
    const { path } = follow(descriptor(`user=${'_'.repeat(100_000)}`));
    expect(path?.entries?.[0]?.[1]).toHaveLength(257);
  });
});
