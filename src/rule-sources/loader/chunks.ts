import type { DomainDefinition, RuleDefinition } from '../../core/rules/definition';

/** A piece of parsed rules that is small enough to be copied between two threads in well under a millisecond. */
export interface ParsedChunk {
  readonly domains: readonly DomainPart[];
}

interface DomainPart extends DomainDefinition {
  /** Index of the domain in the whole; a domain may continue in the next chunk. */
  readonly index: number;
}

/** Splits parsed rules into chunks of at most `size` entries and domains together. */
export function* toChunks(
  domains: readonly DomainDefinition[],
  size: number,
): Generator<ParsedChunk> {
  let parts: DomainPart[] = [];
  let room = size;
  for (const [index, { rules, ...domain }] of domains.entries()) {
    let from = 0;
    do {
      if (room < 2) {
        yield { domains: parts };
        parts = [];
        room = size;
      }
      const part = rules.slice(from, from + room - 1);
      parts.push({ ...domain, index, rules: part });
      room -= part.length + 1;
      from += part.length;
    } while (from < rules.length);
  }
  if (parts.length > 0) yield { domains: parts };
}

/** Reassembles chunks, in the order of their creation. */
export function createAssembly() {
  const domains: (DomainDefinition & { readonly rules: RuleDefinition[] })[] = [];
  return {
    add(chunk: ParsedChunk): void {
      for (const { index, rules, ...domain } of chunk.domains) {
        const known = (domains[index] ??= { ...domain, rules: [] });
        known.rules.push(...rules);
      }
    },
    domains: domains as readonly DomainDefinition[],
  };
}
