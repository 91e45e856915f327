import fc from 'fast-check';
import type { RequestDescriptor } from '../../../../src/core/model';
import { counterName } from '../../../../src/core/rules/counter-place';
import { matchDescriptor } from '../../../../src/core/rules/match';
import type { DomainRules } from '../../../../src/core/rules/rules';
import { findRule } from '../../../../src/stats/live/find-rule';
import { rulesOf, type RuleSketch } from '../../../support/rules';
import { startStopwatch } from '../../../support/core-time';

const rules = rulesOf('my_shop', [
  { key: 'user', limit: [2, 'HOUR'], rules: [{ key: 'path', limit: [3, 'DAY'] }] },
  { key: 'user', value: 'ann_lee', limit: [9, 'MINUTE'] },
  { key: 'path', value: '/files/*', shareThreshold: true, limit: [5, 'SECOND'] },
]);

describe('reading the name of a counter along the rules', () => {
  it.each([
    ['my_shop_user_bob_', 2, 'HOUR', [['user', 'bob']]],
    ['my_shop_user_a_b_c_', 2, 'HOUR', [['user', 'a_b_c']]],
    ['my_shop_user__', 2, 'HOUR', [['user', '']]],
    ['my_shop_user_ann_lee_', 9, 'MINUTE', [['user', 'ann_lee']]],
    ['my_shop_path_/files/*_', 5, 'SECOND', [['path', '/files/*']]],
    ['my_shop_user_x_path_/a_b_', 3, 'DAY', [['user', 'x'], ['path', '/a_b']]], // prettier-ignore
  ] as const)('reads %s', (name, limit, unit, entries) => {
    const found = findRule(rules, name, { limit, unit });
    expect(found).toMatchObject({ domain: 'my_shop', entries });
    expect(found?.limit).toMatchObject({ requestsPerUnit: limit, unit });
  });

  it('leaves a limit that came in a request unread, but knows the domain', () => {
    const unread = { domain: 'my_shop', entries: undefined, limit: undefined };
    expect(findRule(rules, 'my_shop_user_bob_', { limit: 77, unit: 'HOUR' })).toEqual({
      ...unread,
      rest: 'user_bob',
    });
    expect(findRule(rules, 'elsewhere_user_bob_', { limit: 2, unit: 'HOUR' })).toBeUndefined();
  });

  it('gives up on a name that can be read in too many ways, in no time', () => {
    const level: RuleSketch = { key: '', rules: [{ key: '', rules: [{ key: '', rules: [] }] }] };
    const name = `d_${'_'.repeat(2_000)}`;
    const elapsedMs = startStopwatch();
    const found = findRule(rulesOf('d', [level]), name, { limit: 1, unit: 'HOUR' });
    expect(found?.entries).toBeUndefined();
    expect(elapsedMs()).toBeLessThan(1_000);
  });

  it('finds the rule that matched, whatever the texts are', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '_', '/'), maxLength: 4 });
    const domain = rules.domains.get('my_shop') as DomainRules;
    const descriptors = fc.oneof(
      fc.tuple(fc.tuple(fc.constantFrom('user', 'path'), text)),
      fc.tuple(fc.tuple(fc.constant('user'), text), fc.tuple(fc.constant('path'), text)),
    );
    fc.assert(
      fc.property(descriptors, (pairs) => {
        const entries = pairs.map(([key, value]) => ({ key, value }));
        const descriptor = { entries, hits: undefined, limit: undefined, isNegativeHits: false };
        const match = matchDescriptor(domain, descriptor satisfies RequestDescriptor);
        fc.pre(match !== undefined);
        const { limit, place, entries: matched } = match;
        const name = `${counterName(place, matched)}_`;
        const wanted = { limit: limit.requestsPerUnit, unit: limit.unit };
        expect(findRule(rules, name, wanted)?.limit).toBe(limit);
      }),
    );
  });
});
