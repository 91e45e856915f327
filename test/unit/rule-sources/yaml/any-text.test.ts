import fc from 'fast-check';
import ruleFiles from '../../../parity/vectors/rule-files.json';
import { parseText } from '../../../support/rule-texts';

const files = ruleFiles.flatMap((vector): string[] => Object.values(vector.files));

/** A good or bad rule file with some of it cut, doubled or replaced. */
const mutated = fc
  .tuple(
    fc.constantFrom(...files),
    fc.array(
      fc.record({
        at: fc.nat(400),
        drop: fc.nat(20),
        put: fc.oneof(
          fc.constantFrom(
            '- ',
            ': ',
            '[',
            ']',
            '{',
            '}',
            '&a ',
            '*a',
            '<<: ',
            '!!int ',
            '\n',
            '  ',
            '\t',
          ),
          fc.constantFrom(
            '"',
            "'",
            '|\n',
            '---\n',
            '%',
            '#',
            ',',
            '? ',
            '~',
            'yes',
            '1.5',
            '010',
            '\0',
          ),
          fc.string({ maxLength: 4, unit: 'binary' }),
        ),
      }),
      { maxLength: 6 },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((all, { at, drop, put }) => all.slice(0, at) + put + all.slice(at + drop), text),
  );

function expectAnswer(content: string | Uint8Array): void {
  const { domains, problems } = parseText(content);
  const errors = problems.filter(({ severity }) => severity === 'error');
  expect(errors.length === 0).toBe(domains.length > 0);
  for (const { message, at } of problems) {
    expect(message).not.toMatch(/[\n\r]|undefined|\[object/);
    expect('line' in at && Math.min(at.line, at.column)).toBeGreaterThan(0);
  }
  for (const { rules } of domains) {
    rules.forEach((rule, index) => {
      expect(rule.parent).toBeLessThan(index);
      expect(rule.key).not.toBe('');
    });
  }
}

describe('whatever a rule file holds, it gives rules or mistakes', () => {
  it('for a damaged rule file', () => {
    fc.assert(fc.property(mutated, expectAnswer), { numRuns: 2000 });
  });

  it('for any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), expectAnswer));
    const yamlish = fc.string({
      unit: fc.constantFrom(...Array.from('abkey:-[]{}&*!|>"\'#%@` \n\t,?~<0.x')),
      maxLength: 60,
    });
    fc.assert(fc.property(yamlish, expectAnswer), { numRuns: 2000 });
  });

  it('for any bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), expectAnswer));
  });
});
