import fc from 'fast-check';
import { candidatesOf } from '../../../../src/core/explain/candidates';
import {
  explainPath,
  explainUnknownDomain,
  placeText,
} from '../../../../src/core/explain/explain-path';
import type { Entry } from '../../../../src/core/model';
import { findNode } from '../../../../src/core/rules/match';
import type { DomainRules } from '../../../../src/core/rules/rules';
import { finish } from '../../../../src/core/steps';
import { rulesOf, type RuleSketch } from '../../../support/rules';

const limit = [10, 'HOUR'] as const;
const place = (line: number) => ({
  file: 'shop.yaml',
  at: { line, column: 5 },
  limitAt: undefined,
});

const SHOP: readonly RuleSketch[] = [
  { key: 'user', value: 'ann', place: place(3), rules: [{ key: 'path', value: '/a', limit }] },
  {
    key: 'user',
    place: place(6),
    limit,
    rules: [{ key: 'path', value: '/b', limit, place: place(8) }],
  },
  { key: 'plan', value: 'free', limit, place: place(10) },
  { key: 'plan', value: 'f*', limit, place: place(11) },
  { key: 'plan', value: '*e', limit, place: place(12) },
  { key: 'plan', limit, place: place(13) },
  { key: 'group' },
  { key: 'ip', value: '10.0.0.1', limit },
  { key: 'a', rules: [{ key: 'b', limit }] },
];

function explain(text: string, sketches: readonly RuleSketch[] = SHOP) {
  const rules = rulesOf('shop', sketches);
  return finish(
    explainPath(rules.domains.get('shop') as DomainRules, entriesOf(text), rules.places),
  );
}

function entriesOf(text: string): readonly Entry[] {
  if (text === '') return [];
  return text.split(',').map((pair) => {
    const [key = '', value = ''] = pair.split('=');
    return { key, value };
  });
}

describe('the path of a descriptor', () => {
  it('names the rule of each level with its place, and what it passed over', () => {
    expect(explain('plan=free')).toEqual({
      path: [
        {
          entry: 'plan=free',
          matched: 'value',
          rule: 'plan=free',
          at: 'shop.yaml:10:5',
          passedOver: [
            {
              rule: 'plan=f*',
              at: 'shop.yaml:11:5',
              why: 'a rule with exactly this value comes first',
            },
            {
              rule: 'plan=*e',
              at: 'shop.yaml:12:5',
              why: 'a rule with exactly this value comes first',
            },
            {
              rule: 'plan',
              at: 'shop.yaml:13:5',
              why: 'a rule with exactly this value comes first',
            },
          ],
        },
      ],
    });
  });

  it('says of a wildcard which later wildcards and which bare key it passed over', () => {
    const [level] = explain('plan=fine').path;
    expect(level).toMatchObject({ matched: 'wildcard', rule: 'plan=f*' });
    expect(level?.passedOver?.map(({ why }) => why)).toEqual([
      'a rule with a wildcard comes before it in the file',
      'a rule with a wildcard comes first',
    ]);
  });

  it('passes over nothing where only the bare key matches', () => {
    expect(explain('user=bob')).toEqual({
      path: [{ entry: 'user=bob', matched: 'any value', rule: 'user', at: 'shop.yaml:6:5' }],
    });
  });

  it.each([
    [
      'usr=ann',
      'no_entry_for_key',
      1,
      /level 1 has no key "usr"; it has "user".*nearest is "user"/,
    ],
    ['User=ann', 'no_entry_for_key', 1, /"user" differs only in letter case/],
    ['ip=10.0.0.2', 'no_entry_for_value', 1, /no value of "ip".*nearest is "10.0.0.1"/],
    [
      'user=bob,path=/c',
      'no_entry_for_value',
      2,
      /level 2 has no value of "path" that matches; it has "\/b"/,
    ],
    ['plan=free,path=/a', 'too_deep', 1, /ends at level 1, but the descriptor has 2 entries/],
    ['a=1', 'too_shallow', 1, /must have one of the keys "b"/],
    ['', 'too_shallow', 0, /one of the keys "user", /],
    ['group=x', 'rule_has_no_limit', 1, /has no rate_limit/],
    [
      'user=ann',
      'no_backtracking',
      1,
      /user=ann was taken at level 1.*user at shop.yaml:6:5 would/,
    ],
    [
      'user=ann,path=/b',
      'no_backtracking',
      1,
      /user > path=\/b at shop.yaml:8:5 would have matched/,
    ],
  ])('of %j ends in %s at level %i', (text, reason, level, hint) => {
    const { noLimit } = explain(text);
    expect(noLimit).toMatchObject({ reason, level });
    expect(noLimit?.hint).toMatch(hint);
  });

  it('prefers the way back to a leaf without a limit of its own', () => {
    const rules = [
      { key: 'k', value: 'v' },
      { key: 'k', limit },
    ];
    expect(explain('k=v', rules).noLimit?.reason).toBe('no_backtracking');
  });

  it('names another order of the entries that meets a limit', () => {
    expect(explain('b=2,a=1').order).toBe(
      'the same entries in another order would match: a=1, b=2',
    );
    expect(explain('b=2,a=1,a=1,a=1,a=1').order).toBeUndefined();
    expect(explain('a=1,c=2').order).toBeUndefined();
  });

  describe('whose path has a query', () => {
    const PATHS: readonly RuleSketch[] = [
      { key: 'path', value: '/login', limit },
      { key: 'path', value: '/search?q=*', limit },
      { key: 'user', rules: [{ key: 'path', value: '/login', limit }, { key: 'path' }] },
      { key: 'page', limit, rules: [{ key: 'path', value: '/a', limit }] },
      { key: 'page', value: '/top', limit },
    ];
    const remark = (match: string) =>
      `without the query of its path it would match: ${match}; Envoy sends :path with the query`;

    it.each([
      ['path=/login?x', 'path=/login'],
      ['path=/login?x?y', 'path=/login'],
      ['path=/login?', 'path=/login'],
      ['user=ann,path=/login?x', 'user=ann, path=/login'],
      // The rule for any value meets it: a limit applies, which is not the one that was meant.
      ['page=/top?x', 'page=/top'],
      ['page=/top?x,path=/a?y', undefined],
      ['page=1,path=/a?y', 'page=1, path=/a'],
    ])('says of %j that it would match %j without it', (text, match) => {
      expect(explain(text, PATHS).sent).toBe(match && remark(match));
    });

    it.each(['path=/login', 'path=login?x', 'path=/other?x', 'path=/search?q=1', 'page=/other?x'])(
      'says nothing of %j, where its rule is the same or there is none',
      (text) => {
        expect(explain(text, PATHS)).not.toHaveProperty('sent');
      },
    );
  });

  it.each([
    ['user=%REQ(x-user)%', '"%REQ(x-user)%"'],
    ['user=a-%REQ(:path?x-path):10%-b', '"%REQ(:path?x-path):10%"'],
    ['plan=free,ip=%DOWNSTREAM_REMOTE_ADDRESS%', '"%DOWNSTREAM_REMOTE_ADDRESS%"'],
  ])('says of %j that the proxy has sent %s as text', (text, command) => {
    expect(explain(text).sent).toBe(
      `the proxy has sent ${command} as it is written, not its value`,
    );
  });

  it.each(['user=50%', 'user=a%2Fb%2Fc', 'user=%REQ(x-user)', 'user=%%'])(
    'takes %j for a plain value',
    (text) => {
      expect(explain(text)).not.toHaveProperty('sent');
    },
  );

  it('lists at most twenty names, nearest first, and compares no huge ones', () => {
    const many = Array.from({ length: 30 }, (_, at) => ({ key: `key${String(at)}`, limit }));
    expect(explain('key25x=1', many).noLimit?.names).toHaveLength(20);
    expect(explain('key25x=1', many).noLimit?.names?.[0]).toMatch(/^key2?5?/);
    expect(explain(`${'k'.repeat(100)}=1`, many).noLimit?.hint).not.toContain('nearest');
  });

  it('gives up the search for a way back after ten thousand rules', () => {
    const wide = Array.from({ length: 150 }, (_, at) => ({
      key: 'k',
      value: `${'*'.repeat(at + 1)}v`,
      rules: Array.from({ length: 150 }, (_, below) => ({
        key: 'l',
        value: `${'*'.repeat(below + 1)}v`,
      })),
    }));
    expect(explain('k=v,l=v', wide).noLimit?.reason).toBe('rule_has_no_limit');
  });

  it('is the one that matching takes, for any rules and entries', () => {
    const value = fc.constantFrom('a', 'b', 'ab', 'a*', '*', '*b', 'aab');
    const rule = fc.record({ key: fc.constantFrom('k', 'l'), value: fc.option(value) });
    fc.assert(
      fc.property(fc.array(rule, { maxLength: 8 }), fc.string({ maxLength: 3 }), (found, text) => {
        const seen = new Map(found.map((one) => [`${one.key}_${String(one.value)}`, one]));
        const sketches = [...seen.values()].map(({ key, value: fixed }) =>
          fixed === null ? { key, limit } : { key, value: fixed, limit },
        );
        if (sketches.length === 0) return;
        const { top } = rulesOf('d', sketches).domains.get('d') as DomainRules;
        const entry = { key: 'k', value: text.replace('*', 'b') };
        const [first] = candidatesOf(top, entry);
        expect(first?.node).toBe(findNode(top, entry.key, entry.value));
      }),
    );
  });
});

it('an unknown domain is answered with those that exist, the nearest first', () => {
  const { reason, hint, names } = finish(explainUnknownDomain('shpo', ['web', 'shop']));
  expect({ reason, names }).toEqual({ reason: 'unknown_domain', names: ['shop', 'web'] });
  expect(hint).toBe(
    'no rules for the domain "shpo"; there are "shop", "web"; the nearest is "shop"',
  );
  expect(finish(explainUnknownDomain('d', [])).hint).toContain('there are none');
});

it.each([
  [{ line: 3, column: 5 }, 'a.yaml:3:5'],
  [{ path: 'descriptors[1]' }, 'a.yaml: descriptors[1]'],
  [{ path: '' }, 'a.yaml'],
])('the place %j reads %j', (at, text) => {
  expect(placeText('a.yaml', at)).toBe(text);
});

describe('what one step of an explanation costs', () => {
  /** The steps of work, and the most of something that one of them did. */
  function stepsOf(work: Generator<undefined, unknown, void>, done: () => number) {
    let steps = 0;
    let most = 0;
    for (let before = done(); work.next().done !== true; before = done()) {
      steps += 1;
      most = Math.max(most, done() - before);
    }
    return { steps, most };
  }

  it('is to read some dozens of names, and at most two thousand of them all', () => {
    let read = 0;
    function* names(): Generator<string, void> {
      for (;;) {
        read += 1;
        yield `a-value-of-its-own-${String(read)}`.padEnd(64, '-');
      }
    }
    const { steps, most } = stepsOf(explainUnknownDomain('x'.repeat(64), names()), () => read);
    expect(most).toBeLessThanOrEqual(32);
    expect(read).toBe(2_000);
    expect(steps).toBeGreaterThan(60);
  });

  it('is one entry, one rule of a way back, one order', () => {
    const wide = Array.from({ length: 60 }, (_, at) => ({
      key: 'k',
      value: `${'*'.repeat(at + 1)}v`,
      rules: Array.from({ length: 60 }, (_inner, below) => ({
        key: 'l',
        value: `${'*'.repeat(below + 1)}v`,
      })),
    }));
    const rules = rulesOf('shop', wide);
    const domain = rules.domains.get('shop') as DomainRules;
    const { steps } = stepsOf(explainPath(domain, entriesOf('k=v,l=v'), rules.places), () => 0);
    expect(steps).toBeGreaterThan(60 * 60);
  });
});
