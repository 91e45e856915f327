import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry, RequestDescriptor } from '../../../../src/core/model';
import { compileRules } from '../../../../src/core/rules/compile';
import type { DomainRules } from '../../../../src/core/rules/rules';
import { dumpRules } from '../../../../src/core/rules/dump';
import { counterName } from '../../../../src/core/rules/key-template';
import { matchDescriptor, type Match } from '../../../../src/core/rules/match';
import { descriptor } from '../../../support/requests';
import { parseText } from '../../../support/rule-texts';
import { rulesOf, type RuleSketch } from '../../../support/rules';
import { readTable, type TableCase } from '../../../support/text-table';

/** The limit, the counter and the metric key of a descriptor, `placeholder` for a rule without a limit. */
function found({ given, title, options }: TableCase): string {
  const rules = compileRules(parseText(given).domains).domains.get('d');
  if (rules === undefined) throw new Error('no domain');
  const limit = options['limit'] as RequestDescriptor['limit'];
  const match = matchDescriptor(rules, descriptor(title.split(' '), { limit }));
  if (match === undefined) return 'nothing';
  if (typeof match !== 'object') return match;
  const { limit: met, template, entries, metric } = match;
  return `${String(met.requestsPerUnit)} ${counterName(template, entries)} ${metric}`;
}

function limited(found: ReturnType<typeof matchDescriptor>): Match | undefined {
  return typeof found === 'object' ? found : undefined;
}

const TABLE = readTable(readFileSync(join(__dirname, 'matches.txt'), 'utf8'));

it.each(TABLE)('$title meets $expected', (row) => {
  expect([found(row)]).toEqual(row.expected);
});

it('a descriptor without entries meets nothing', () => {
  const rules = rulesOf('d', [{ key: 'a', limit: [1, 'DAY'] }]).domains.get('d') as DomainRules;
  expect(matchDescriptor(rules, descriptor([]))).toBeUndefined();
});

describe('the template and the values of a match', () => {
  const tree: RuleSketch[] = [
    {
      key: 'a',
      rules: [{ key: 'b', limit: [1, 'DAY'], rules: [{ key: 'c', limit: [2, 'DAY'] }] }],
    },
    { key: 'a', value: '1', rules: [{ key: 'b', limit: [3, 'DAY'] }] },
    { key: 'f', value: '1*', shareThreshold: true, rules: [{ key: 'b', limit: [4, 'DAY'] }] },
  ];
  const domain = rulesOf('d', tree).domains.get('d') as DomainRules;
  const text = fc.string({ unit: fc.constantFrom('1', ':', '_', '2'), maxLength: 3 });
  const entries = fc
    .tuple(fc.constantFrom('a', 'f'), fc.array(text, { minLength: 1, maxLength: 3 }))
    .map(([top, values]) => values.map((value, i) => ({ key: [top, 'b', 'c'][i] ?? '', value })));
  const find = (path: readonly Entry[]) =>
    limited(
      matchDescriptor(domain, {
        entries: path,
        hits: undefined,
        limit: undefined,
        isNegativeHits: false,
      }),
    );

  it('name its counter as the reference does', () => {
    fc.assert(
      fc.property(entries, (path) => {
        const found = find(path);
        fc.pre(found !== undefined);
        const named = path.map(({ key, value }) => `_${key}_${key === 'f' ? '1*' : value}`);
        expect(counterName(found.template, found.entries)).toBe(`d${named.join('')}`);
      }),
    );
  });

  it('are equal only for one counter', () => {
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        const [a, b] = [find(one), find(other)];
        fc.pre(a !== undefined && b !== undefined);
        const isSame = a.template === b.template && a.values === b.values;
        const shared = (path: readonly Entry[]) =>
          path.map(({ key, value }) => [key, key === 'f' ? '1*' : value]);
        expect(isSame).toBe(JSON.stringify(shared(one)) === JSON.stringify(shared(other)));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('dumpRules', () => {
  it('prints one line for each limit, on every level', () => {
    const rules = rulesOf('a', [
      {
        key: 'k',
        value: 'w*',
        shadowMode: true,
        limit: [7, 'WEEK'],
        rules: [{ key: 'inner', quotaMode: true, limit: [0, 'SECOND'] }],
      },
      { key: 'k', value: 'v', limit: [1, 'DAY'] },
      { key: 'free', limit: { unlimited: true } },
      { key: 'empty' },
    ]);
    expect(dumpRules(rules)).toEqual([
      'a.k_v: unit=DAY requests_per_unit=1, shadow_mode: false, quota_mode: false',
      'a.k_w*: unit=WEEK requests_per_unit=7, shadow_mode: true, quota_mode: false',
      'a.k_w*.inner: unit=SECOND requests_per_unit=0, shadow_mode: false, quota_mode: true',
      'a.free: unit=UNKNOWN requests_per_unit=0, shadow_mode: false, quota_mode: false',
    ]);
  });
});
