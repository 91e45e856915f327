import type { DomainDefinition } from './definition';
import type { SecretKind, Secrets, Tokens } from './secrets';

/** The keys that are secret anywhere in the rules; undefined when none is. Throws when some are and there are no tokens. */
export function findSecrets(
  domains: readonly DomainDefinition[],
  tokens: Tokens | undefined,
): Secrets | undefined {
  const kinds = new Map<string, SecretKind>();
  for (const { rules } of domains) {
    for (const { key, secret } of rules) if (secret !== undefined) kinds.set(key, secret);
  }
  if (kinds.size === 0) return undefined;
  if (tokens === undefined) throw new Error('rules with hash_value are compiled without tokens');
  return { kinds, tokens };
}
