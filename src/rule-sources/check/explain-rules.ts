import {
  entryTexts,
  explainPath,
  explainUnknownDomain,
  placeOfLimit,
} from '../../core/explain/explain-path';
import { limitFields } from '../../core/explain/limit-fields';
import { descriptorLines } from '../../core/explain/to-text';
import type { Entry } from '../../core/model';
import { compileRules, type CompileOptions } from '../../core/rules/compile';
import type { ParsedRules } from '../../core/rules/definition';
import { matchDescriptor } from '../../core/rules/match';
import type { DomainRules, RuleNode, Rules } from '../../core/rules/rules';
import { takeTokens } from '../../core/rules/secrets';
import { finish } from '../../core/steps';

/** The question to explain without a service. */
export interface ExplainQuestion {
  readonly domain: string;
  readonly descriptors: readonly (readonly Entry[])[];
}

/** The path of each descriptor through the rules, as lines; no counts. */
export function explainRules(
  { domains }: ParsedRules,
  { domain, descriptors }: ExplainQuestion,
  options: Required<Pick<CompileOptions, 'tokens'>> & Pick<CompileOptions, 'findZone'>,
): readonly string[] {
  const rules = compileRules(domains, options);
  const { secrets } = rules;
  const found = rules.domains.get(domain);
  const asked =
    secrets === undefined
      ? descriptors
      : descriptors.map((entries) => takeTokens(secrets, entries));
  return asked.flatMap((entries) =>
    found === undefined
      ? descriptorLines({
          entries: entryTexts(secrets, entries),
          path: [],
          noLimit: finish(explainUnknownDomain(domain, rules.domains.keys())),
        })
      : explainOne(found, entries, rules),
  );
}

function explainOne(
  domain: DomainRules,
  entries: readonly Entry[],
  { places, secrets }: Rules,
): readonly string[] {
  const path = finish(explainPath(domain, entries, places));
  const plain = { entries, limit: undefined, hits: undefined, isNegativeHits: false };
  const texts = entryTexts(secrets, entries);
  const match = matchDescriptor(domain, plain);
  if (typeof match !== 'object') return descriptorLines({ entries: texts, ...path });
  const { limit, metric } = match;
  const explained = { entries: texts, ...path, metric };
  if (limit.unlimited) {
    const hint = 'the rule is unlimited: its hits are counted in statistics only';
    return descriptorLines({ ...explained, noLimit: { reason: 'unlimited', hint } });
  }
  return descriptorLines({
    ...explained,
    limit: {
      ...limitFields(limit),
      ...placeOfLimit(places.get(match.template as RuleNode)),
    },
  });
}
