import { listRules } from '../../../../src/core/explain/list-rules';
import { compileRules } from '../../../../src/core/rules/compile';
import { linesOfRules } from '../../../../src/core/rules/dump';
import { definitionsOf, rulesOf } from '../../../support/rules';

const limit = [10, 'HOUR'] as const;
const place = { file: 'shop.yaml', at: { line: 3, column: 5 }, limitAt: undefined };
const RULES = rulesOf('shop', [
  { key: 'user', value: 'ann', limit, place, rules: [{ key: 'path', value: '/*', limit }] },
  { key: 'user', limit: { unlimited: true, name: 'free' } },
  { key: 'group' },
]);

describe('the list of limits', () => {
  it('has each with its position, path, place and fields', () => {
    const plain = { algorithm: 'fixed_window', shadowMode: false, quotaMode: false, replaces: [] };
    expect([...listRules(RULES, 0, 10)]).toEqual([
      {
        id: 0,
        domain: 'shop',
        path: ['user=ann'],
        at: 'shop.yaml:3:5',
        limit: { requestsPerUnit: 10, unit: 'HOUR', unlimited: false, ...plain },
        metric: 'shop.user_ann',
      },
      {
        id: 1,
        domain: 'shop',
        path: ['user=ann', 'path=/*'],
        limit: { requestsPerUnit: 10, unit: 'HOUR', unlimited: false, ...plain },
        metric: 'shop.user_ann.path_/*',
      },
      {
        id: 2,
        domain: 'shop',
        path: ['user'],
        limit: { requestsPerUnit: 0, unit: 'SECOND', unlimited: true, name: 'free', ...plain },
        metric: 'shop.user',
      },
    ]);
  });

  it('says a limit in words where it is more than hits per unit', () => {
    const rules = rulesOf('shop', [
      { key: 'user', limit: { requestsPerUnit: 10, unit: 'MINUTE', unitMultiplier: 5 } },
    ]);
    expect([...listRules(rules, 0, 1)][0]?.limit).toMatchObject({ words: '10 per 5 minutes' });
  });

  it('goes on from a position, as far as asked, over all domains', () => {
    const rules = compileRules([
      { domain: 'a', rules: definitionsOf([{ key: 'k', limit }]) },
      {
        domain: 'b',
        rules: definitionsOf([
          { key: 'k', limit },
          { key: 'l', limit },
        ]),
      },
    ]);
    const pairsOf = (offset: number, most: number) =>
      [...listRules(rules, offset, most)].flatMap((rule) => (rule ? [[rule.id, rule.metric]] : []));
    expect(pairsOf(1, 1)).toEqual([[1, 'b.k']]);
    expect(pairsOf(1, 5)).toEqual([
      [1, 'b.k'],
      [2, 'b.l'],
    ]);
    expect([...listRules(rules, 3, 5)].filter(Boolean)).toEqual([]);
  });

  it('goes in steps past rules that have no limit', () => {
    const without = Array.from({ length: 5_000 }, (_, at) => ({ key: 'k', value: String(at) }));
    const rules = rulesOf('shop', [...without, { key: 'k', limit }]);
    const listed = [...listRules(rules, 0, 10)];
    expect(listed.filter(Boolean)).toHaveLength(1);
    expect(listed.length).toBeGreaterThan(10);
    const lines = [...linesOfRules(rules)];
    expect(lines.filter(Boolean)).toHaveLength(1);
    expect(lines.length).toBeGreaterThan(10);
  });
});
