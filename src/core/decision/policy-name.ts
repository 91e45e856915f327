import { periodText } from '../rules/describe-limit';
import type { UnitCount } from '../windows/length';

const MAX_NAME_CHARACTERS = 64;

/** What names the policy of a rule towards clients. */
export interface NamedPolicy {
  /** The rule's `name`, empty when it has none. */
  readonly name: string;
  /** Hits per period. */
  readonly limit: number;
  /** The period in the words of its name. */
  readonly period: UnitCount;
}

/** The names of policies in one response, in plain characters; a repeated name gets a suffix: `name-2`. */
export function policyNames(policies: readonly NamedPolicy[]): readonly string[] {
  const taken = new Set<string>();
  return policies.map((policy) => {
    const plain = plainName(policy);
    let name = plain;
    for (let number = 2; taken.has(name); number += 1) name = `${plain}-${String(number)}`;
    taken.add(name);
    return name;
  });
}

/** A name as a string of structured fields. */
export function quoteName(name: string): string {
  return `"${name.replace(/["\\]/g, '\\$&')}"`;
}

/** At most 64 characters that structured fields allow in a string (RFC 9651, 3.3.3), not yet escaped. */
function plainName({ name, limit, period }: NamedPolicy): string {
  if (name !== '') return name.replace(/[^ -~]/gu, '_').slice(0, MAX_NAME_CHARACTERS);
  return `${String(limit)}-per-${periodText(period).replace(' ', '-')}`;
}
