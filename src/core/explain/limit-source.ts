import type { Entry } from '../model';
import { fieldOf } from '../planning/value-limit';
import type { RuleLimit } from '../rules/rules';
import type { Secrets } from '../rules/secrets';
import type { LimitSource } from './explanation';

/** The source of a value's limit, for a rule with `limits_from`; empty for others. */
export function limitSource(
  limit: RuleLimit,
  entries: readonly Entry[],
  secrets: Secrets | undefined,
): { readonly limitsFrom?: LimitSource } {
  const rule = (limit.ofRule ?? limit).limitsFrom;
  if (rule === undefined) return {};
  const source = { key: rule.key, field: fieldOf(rule, entries, secrets) };
  if (limit.ofRule === undefined) return { limitsFrom: source };
  return {
    limitsFrom: { ...source, value: limit.unlimited ? 'unlimited' : limit.requestsPerUnit },
  };
}

export function sourceText({ key, field, value }: LimitSource): string {
  const place = `the field ${JSON.stringify(field)} of the hash ${key}`;
  return value === undefined ? `${place} holds no limit` : `${place} is ${String(value)}`;
}
