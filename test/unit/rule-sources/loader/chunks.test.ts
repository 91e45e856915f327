import fc from 'fast-check';
import { createAssembly, toChunks } from '../../../../src/rule-sources/loader/chunks';
import type { DomainDefinition, RuleDefinition } from '../../../../src/core/rules/definition';

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

const domainLists = fc.array(fc.nat({ max: 20 }), { maxLength: 8 }).map((sizes) =>
  sizes.map((size, d): DomainDefinition => ({
    domain: `domain ${String(d)}`,
    ...(size % 2 === 1 && { isChargedTogether: true }),
    rules: Array.from({ length: size }, (_, i) => rule(`${String(d)}.${String(i)}`)),
  })),
);

describe('parsed rules in chunks', () => {
  it('are the same once they are put together', () => {
    fc.assert(
      fc.property(domainLists, fc.integer({ min: 2, max: 12 }), (lists, size) => {
        const assembly = createAssembly();
        for (const chunk of toChunks(lists, size)) assembly.add(chunk);
        expect(assembly.domains).toEqual(lists);
      }),
    );
  });

  it('are never more than asked for, and never nothing', () => {
    fc.assert(
      fc.property(domainLists, fc.integer({ min: 2, max: 12 }), (lists, size) => {
        for (const domains of toChunks(lists, size)) {
          const entries = domains.reduce((sum, { rules }) => sum + rules.length + 1, 0);
          expect(entries).toBeLessThanOrEqual(size);
          expect(entries).toBeGreaterThan(0);
        }
      }),
    );
  });
});
