import type { Readable } from 'node:stream';
import { checkRules } from '../rule-sources/check/check-rules';
import { parseRules } from '../rule-sources/parse-rules';
import { readSource } from '../rule-sources/read-source';
import { compileRules } from '../core/rules/compile';
import type { DomainDefinition, LimitDefinition, RuleDefinition } from '../core/rules/definition';
import type { Rules } from '../core/rules/rules';
import type { ZoneLookup } from '../core/windows/zone-data';
import { TokenMaker } from '../platform/secret-keys';

/** Rules that the service would refuse: every mistake in them, one line each. */
export class RulesRefused extends Error {
  override readonly name = 'RulesRefused';
}

export interface LoadOptions {
  readonly mergeDomains: boolean;
  /** Limits and bursts are multiplied by it, rounded up; undefined: unchanged. */
  readonly sampleRate: number | undefined;
  readonly stdin: Readable;
  /** Undefined: time zones come from the runtime. */
  readonly zones?: ZoneLookup | undefined;
}

/** Reads and checks a directory of rules as the service does. Throws `RulesRefused`. */
export async function loadRules(directory: string, options: LoadOptions): Promise<Rules> {
  const { mergeDomains, sampleRate, stdin, zones } = options;
  const files = await readSource({ kind: 'directory', path: directory }, stdin);
  const merging = `-merge_domain_configs=${String(mergeDomains)}`;
  const args = [merging, '-config_dir', directory];
  const checked = await checkRules(args, () => Promise.resolve(files), zones);
  if (checked.exitCode !== 0) throw new RulesRefused(checked.lines.join('\n'));
  const { domains } = parseRules(files.files, { mergeDomains, hasZone: zones?.has });
  // Without the keys of the service, a secret value becomes a plain hash: two runs give the same report.
  const tokens = new TokenMaker(() => 0);
  const scaled = sampleRate === undefined ? domains : scale(domains, sampleRate);
  return compileRules(scaled, { tokens, ...(zones && { findZone: zones.find }) });
}

/** Limits and bursts for a sampled log: at least 1, and a limit of 0 stays 0. */
function scale(domains: readonly DomainDefinition[], rate: number): readonly DomainDefinition[] {
  const scaleLimit = (limit: LimitDefinition): LimitDefinition => {
    const requestsPerUnit = Math.ceil(limit.requestsPerUnit * rate);
    const burst = limit.burst && Math.ceil(limit.burst * rate);
    return { ...limit, requestsPerUnit, burst };
  };
  const scaleRule = (rule: RuleDefinition): RuleDefinition => {
    const { limit, budget } = rule;
    if (limit === undefined) return rule;
    const scaled = { ...rule, limit: scaleLimit(limit) };
    return budget === undefined
      ? scaled
      : { ...scaled, budget: { ...budget, limits: budget.limits.map(scaleLimit) } };
  };
  return domains.map((domain) => ({ ...domain, rules: domain.rules.map(scaleRule) }));
}
