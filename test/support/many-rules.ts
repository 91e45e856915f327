/** A rule file of so many rules in two levels, each with a limit. */
export function manyRules(count: number, limit: number): string {
  const rate = `rate_limit: { unit: minute, requests_per_unit: ${String(limit)} }`;
  const rules = Array.from(
    { length: count / 2 },
    (_, i) => `  - key: path
    value: /api/v1/resource-${String(i)}
    ${rate}
    descriptors:
      - key: user
        ${rate}
`,
  );
  return `domain: many\ndescriptors:\n${rules.join('')}`;
}

/** A rule file of so many mistakes, each in the unit of a rule of its own. */
export function manyMistakes(count: number): string {
  const rules = Array.from(
    { length: count },
    (_, i) => `  - key: path
    value: /api/v1/resource-${String(i)}
    rate_limit: { unit: fortnight-${'x'.repeat(120)}, requests_per_unit: 1 }
`,
  );
  return `domain: many\ndescriptors:\n${rules.join('')}`;
}
