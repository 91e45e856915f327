/** A value with `*`, cut at its stars: the text before the first, between them, and after the last. */
interface Wildcard<N> {
  readonly order: number;
  readonly prefix: string;
  readonly middles: readonly string[];
  readonly suffix: string;
  readonly node: N;
}

/**
 * The wildcards of one key, found by their literal prefix, so that ten thousand of them cost as much as ten. The first match in the
 * order of the file wins (behaviour.md §2.2).
 */
export interface WildcardIndex<N> {
  /** The lengths of the prefixes, ascending. */
  readonly prefixLengths: readonly number[];
  readonly byPrefix: ReadonlyMap<string, readonly Wildcard<N>[]>;
  readonly byPattern: ReadonlyMap<string, N>;
  readonly inOrder: readonly { readonly pattern: string; readonly node: N }[];
}

/** An index to which wildcards are added one by one: thousands of them at once would take a while. */
export interface WildcardDraft<N> extends WildcardIndex<N> {
  readonly prefixLengths: number[];
  readonly byPrefix: Map<string, Wildcard<N>[]>;
  readonly byPattern: Map<string, N>;
  readonly inOrder: { readonly pattern: string; readonly node: N }[];
}

export function createWildcards<N>(): WildcardDraft<N> {
  return { prefixLengths: [], byPrefix: new Map(), byPattern: new Map(), inOrder: [] };
}

export function addWildcard<N>(
  { prefixLengths, byPrefix, byPattern, inOrder }: WildcardDraft<N>,
  pattern: string,
  node: N,
): void {
  const parts = pattern.split('*');
  const prefix = parts[0] ?? '';
  const wildcard = {
    order: inOrder.length,
    prefix,
    middles: parts.slice(1, -1).filter((part) => part !== ''),
    suffix: parts.at(-1) ?? '',
    node,
  };
  inOrder.push({ pattern, node });
  byPattern.set(pattern, node);
  const sharing = byPrefix.get(prefix);
  if (sharing !== undefined) sharing.push(wildcard);
  else {
    byPrefix.set(prefix, [wildcard]);
    if (!prefixLengths.includes(prefix.length)) {
      prefixLengths.push(prefix.length);
      prefixLengths.sort((a, b) => a - b);
    }
  }
}

/** The wildcard with exactly this text, else the first, in the order of the file, that matches the value. */
export function findWildcard<N>(index: WildcardIndex<N>, value: string): N | undefined {
  const alike = value.includes('*') ? index.byPattern.get(value) : undefined;
  return alike ?? findFirst(index, value);
}

function findFirst<N>(index: WildcardIndex<N>, value: string): N | undefined {
  let best: Wildcard<N> | undefined;
  for (const length of index.prefixLengths) {
    if (length > value.length) break;
    const sharing = index.byPrefix.get(value.slice(0, length));
    if (sharing === undefined) continue;
    for (const wildcard of sharing) {
      if (best !== undefined && wildcard.order > best.order) break;
      if (matchesRest(wildcard, value)) best = wildcard;
    }
  }
  return best?.node;
}

/** Every wildcard that matches this value: the one with exactly its text, then those in the order of the file. */
export function findWildcards<N>(
  { prefixLengths, byPrefix, inOrder }: WildcardIndex<N>,
  value: string,
): readonly { readonly pattern: string; readonly node: N }[] {
  return prefixLengths
    .filter((length) => length <= value.length)
    .flatMap((length) => byPrefix.get(value.slice(0, length)) ?? [])
    .filter((wildcard) => matchesRest(wildcard, value))
    .sort((a, b) => a.order - b.order)
    .flatMap(({ order }) => inOrder[order] ?? [])
    .sort((a, b) => Number(b.pattern === value) - Number(a.pattern === value));
}

/** Whether the value, which starts with the prefix, contains the other parts in order. */
function matchesRest({ prefix, middles, suffix }: Wildcard<unknown>, value: string): boolean {
  const end = value.length - suffix.length;
  if (end < prefix.length || !value.endsWith(suffix)) return false;
  let at = prefix.length;
  for (const middle of middles) {
    const found = value.indexOf(middle, at);
    if (found === -1 || found + middle.length > end) return false;
    at = found + middle.length;
  }
  return true;
}
