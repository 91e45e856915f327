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

/** The lines of whole explanations: test/unit/decisions/explanations.txt. */
const limit = [10, 'HOUR'] as const;

function explain(text: string, sketches: readonly RuleSketch[]) {
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
  it('may be empty', () => {
    const { noLimit } = explain('', [{ key: 'user', limit }]);
    expect(noLimit).toMatchObject({ reason: 'too_shallow', level: 0 });
    expect(noLimit?.hint).toContain('one of the keys "user"');
  });

  it('says how deep it went before it ended', () => {
    const { noLimit } = explain('a=1,c=2', [{ key: 'a', rules: [{ key: 'b', limit }] }]);
    expect(noLimit).toMatchObject({ reason: 'no_entry_for_key', level: 2, names: ['b'] });
  });

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
