import fc from 'fast-check';
import { createAssembly, toChunks } from '../../../../src/rule-sources/loader/chunks';
import type { ParsedRules, RuleDefinition } from '../../../../src/core/rules/definition';
import type { RuleProblem } from '../../../../src/fields/problem';

const rule = (key: string): RuleDefinition => ({
  parent: -1,
  key,
  value: undefined,
  limit: undefined,
  shadowMode: false,
  quotaMode: false,
  detailedMetric: false,
  valueToMetric: false,
  shareThreshold: false,
  metadata: undefined,
});
const problem = (line: number): RuleProblem => ({
  severity: 'warning',
  class: 'idle-key',
  file: 'a.yaml',
  at: { line, column: 1 },
  message: 'means nothing here',
});

const parsedRules = fc
  .record({
    sizes: fc.array(fc.nat({ max: 20 }), { maxLength: 8 }),
    problemCount: fc.nat({ max: 20 }),
  })
  .map(({ sizes, problemCount }): ParsedRules => ({
    domains: sizes.map((size, d) => ({
      domain: `domain ${String(d)}`,
      ...(size % 2 === 1 && { isChargedTogether: true }),
      rules: Array.from({ length: size }, (_, i) => rule(`${String(d)}.${String(i)}`)),
    })),
    problems: Array.from({ length: problemCount }, (_, i) => problem(i)),
  }));

describe('parsed rules in chunks', () => {
  it('are the same once they are put together', () => {
    fc.assert(
      fc.property(parsedRules, fc.integer({ min: 2, max: 12 }), (parsed, size) => {
        const assembly = createAssembly();
        for (const chunk of toChunks(parsed, size)) assembly.add(chunk);
        expect(assembly.parsed).toEqual(parsed);
      }),
    );
  });

  it('are never more than asked for, and never nothing', () => {
    fc.assert(
      fc.property(parsedRules, fc.integer({ min: 2, max: 12 }), (parsed, size) => {
        for (const { domains, problems } of toChunks(parsed, size)) {
          const entries = domains.reduce((sum, { rules }) => sum + rules.length + 1, 0);
          expect(entries + problems.length).toBeLessThanOrEqual(size);
          expect(entries + problems.length).toBeGreaterThan(0);
        }
      }),
    );
  });
});
