import {
  explainPath,
  explainUnknownDomain,
  placeOfLimit,
  textOf,
} from '../../core/explain/explain-path';
import { descriptorLines } from '../../core/explain/to-text';
import type { Entry } from '../../core/model';
import { compileRules } from '../../core/rules/compile';
import type { ParsedRules } from '../../core/rules/definition';
import { matchDescriptor } from '../../core/rules/match';
import type { DomainRules, RuleNode, Rules } from '../../core/rules/rules';

/** What is to be explained without a service. */
export interface ExplainQuestion {
  readonly domain: string;
  readonly descriptors: readonly (readonly Entry[])[];
}

/** The path of each descriptor through the rules, as lines; no counts. */
export function explainRules(
  { domains }: ParsedRules,
  { domain, descriptors }: ExplainQuestion,
): readonly string[] {
  const rules = compileRules(domains);
  const found = rules.domains.get(domain);
  return descriptors.flatMap((entries) =>
    found === undefined
      ? descriptorLines({
          entries: entries.map(textOf),
          path: [],
          noLimit: explainUnknownDomain(domain, rules.domains.keys()),
        })
      : explainOne(found, entries, rules),
  );
}

function explainOne(
  domain: DomainRules,
  entries: readonly Entry[],
  { places }: Rules,
): readonly string[] {
  const path = explainPath(domain, entries, places);
  const plain = { entries, limit: undefined, hits: undefined, isNegativeHits: false };
  const match = matchDescriptor(domain, plain);
  if (typeof match !== 'object') return descriptorLines({ entries: entries.map(textOf), ...path });
  const { limit, metric } = match;
  const { requestsPerUnit, unit, shadowMode, quotaMode, name } = limit;
  const explained = { entries: entries.map(textOf), ...path, metric };
  if (limit.unlimited) {
    const hint = 'the rule is unlimited: it counts in the statistics alone';
    return descriptorLines({ ...explained, noLimit: { reason: 'unlimited', hint } });
  }
  return descriptorLines({
    ...explained,
    limit: {
      requestsPerUnit,
      unit,
      algorithm: limit.algorithm?.name ?? 'fixed_window',
      shadowMode,
      quotaMode,
      ...(name !== '' && { name }),
      ...placeOfLimit(places.get(match.template as RuleNode)),
    },
  });
}
