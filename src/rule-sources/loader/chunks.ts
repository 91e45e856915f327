import type { DomainDefinition, RuleDefinition } from '../../core/rules/definition';

/**
 * Splits rules into chunks of at most `size` entries and domains together, so that each is copied between two threads in well under
 * a millisecond. A domain may go on in the next chunk.
 */
export function* toChunks(
  domains: readonly DomainDefinition[],
  size: number,
): Generator<readonly DomainDefinition[]> {
  let chunk: DomainDefinition[] = [];
  let room = size;
  for (const { rules, ...domain } of domains) {
    let from = 0;
    do {
      if (room < 2) {
        yield chunk;
        chunk = [];
        room = size;
      }
      const part = rules.slice(from, from + room - 1);
      chunk.push({ ...domain, rules: part });
      room -= part.length + 1;
      from += part.length;
    } while (from < rules.length);
  }
  if (chunk.length > 0) yield chunk;
}

/** Reassembles chunks, in the order of their creation, in which the parts of a domain follow one another. */
export function createAssembly() {
  const domains: (DomainDefinition & { readonly rules: RuleDefinition[] })[] = [];
  return {
    add(chunk: readonly DomainDefinition[]): void {
      for (const { rules, ...domain } of chunk) {
        const last = domains.at(-1);
        if (last?.domain === domain.domain) last.rules.push(...rules);
        else domains.push({ ...domain, rules: [...rules] });
      }
    },
    domains: domains as readonly DomainDefinition[],
  };
}
