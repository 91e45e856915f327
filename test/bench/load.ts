import type { AlgorithmName } from '../../src/core/kinds/kinds';
import type { DecisionRequest } from '../../src/core/model';
import type { RuleDefinition } from '../../src/core/rules/definition';
import { compileRules } from '../../src/core/rules/compile';
import type { Rules } from '../../src/core/rules/rules';

/** `count` rules of one domain: half of them two levels deep, some with wildcards. */
export function someRules(count: number, algorithm?: AlgorithmName): Rules {
  const rules: RuleDefinition[] = [];
  const add = (parent: number, key: string, value: string | undefined, limited: boolean) =>
    rules.push({
      parent,
      key,
      value,
      limit: limited
        ? {
            ...{ unit: 'HOUR', requestsPerUnit: 1_000_000, unlimited: false },
            ...{ name: '', replaces: [], ...(algorithm && { algorithm }) },
          }
        : undefined,
      shadowMode: false,
      quotaMode: false,
      detailedMetric: false,
      valueToMetric: false,
      shareThreshold: false,
      metadata: undefined,
    });
  add(-1, 'user', undefined, true);
  for (let i = 1; rules.length < count; i++) {
    const route = add(-1, 'route', `/api/v${String(i)}/items`, false) - 1;
    add(route, 'method', undefined, true);
    if (i % 10 === 0) add(-1, 'path', `/files/${String(i)}/*`, true);
  }
  return compileRules([{ domain: 'edge', rules }]);
}

const bytes = (text: string) => Buffer.from(text, 'latin1');

/**
 * Makes bursts of requests with one or two descriptors, of one and two entries, over `keys` users and the
 * first `routes` routes of the rules. Every text is new each time, as when it comes from a socket.
 */
export function requestSource(
  keys: number,
  routes: number,
  descriptors: 1 | 2 = 2,
): (howMany: number) => DecisionRequest[] {
  const users = Array.from({ length: keys }, (_, i) => bytes(`user-${String(i)}`));
  const paths = Array.from({ length: routes }, (_, i) => bytes(`/api/v${String(1 + i)}/items`));
  const methods = [bytes('GET'), bytes('GET'), bytes('POST')];
  const pick = (from: readonly Buffer[], i: number) =>
    (from[i % from.length] ?? bytes('')).toString('latin1');
  let i = 0;
  const descriptor = (entries: { key: string; value: string }[]) => ({
    entries,
    limit: undefined,
    hits: undefined,
    isNegativeHits: false,
  });
  return (howMany) =>
    Array.from({ length: howMany }, () => {
      i += 1;
      return {
        domain: 'edge',
        hitsAddend: 0,
        descriptors: [
          descriptor([{ key: 'user', value: pick(users, i * 7919) }]),
          descriptor([
            { key: 'route', value: pick(paths, i * 31) },
            { key: 'method', value: pick(methods, i) },
          ]),
        ].slice(0, descriptors),
      };
    });
}
