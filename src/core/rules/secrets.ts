import type { DecisionRequest, Entry } from '../model';

/** How the values of a secret key become tokens: with a key of `SECRET_KEYS_FILE`, or by a plain hash. */
export type SecretKind = 'keyed' | 'sha256';

/** How a token is made: with the key of this id, or by a plain hash. */
export type TokenScheme = number | 'sha256';

/** Makes the tokens that replace secret values. */
export interface Tokens {
  /** The token with the key that is current at this Unix second: the start of a window, or the time of a decision; undefined: now. */
  tokenOf(entry: Entry, kind: SecretKind, atSeconds?: number): string;
  /** The token under one scheme; undefined when no key has this id. */
  tokenUnder(entry: Entry, scheme: TokenScheme): string | undefined;
  /** A value that no client can guess and whose token is this one. */
  standIn(token: string): string;
}

/** The secret keys of a rule set. Their values are used for matching only; everything else shows tokens. */
export interface Secrets {
  readonly kinds: ReadonlyMap<string, SecretKind>;
  readonly tokens: Tokens;
}

/** The value as counters, statistics and pages may show it. An empty value is not secret and stays empty. */
export function redactedValue(
  { kinds, tokens }: Secrets,
  entry: Entry,
  atSeconds?: number,
): string {
  const kind = entry.value === '' ? undefined : kinds.get(entry.key);
  return kind === undefined ? entry.value : tokens.tokenOf(entry, kind, atSeconds);
}

export function redactedEntries(
  secrets: Secrets,
  entries: readonly Entry[],
  atSeconds?: number,
): readonly Entry[] {
  return entries.map((entry) => ({
    key: entry.key,
    value: redactedValue(secrets, entry, atSeconds),
  }));
}

/** The request as answers and logs may show it; the same object where no key is secret. */
export function redactedRequest(
  secrets: Secrets | undefined,
  request: DecisionRequest,
): DecisionRequest {
  if (secrets === undefined) return request;
  return withEntries(request, (entries) => redactedEntries(secrets, entries));
}

/**
 * Lets values that already are tokens match and count as their secret values: operators and logs have nothing else. Never for
 * requests of clients: anybody may know a token.
 */
export function takeTokens(
  { kinds, tokens }: Secrets,
  entries: readonly Entry[],
): readonly Entry[] {
  return entries.map((entry) => {
    const { key, value } = entry;
    const isToken = kinds.has(key) && schemeOf(value) !== undefined;
    return isToken ? { key, value: tokens.standIn(value) } : entry;
  });
}

/** `takeTokens` for each descriptor of a request. */
export function requestOfTokens(
  secrets: Secrets | undefined,
  request: DecisionRequest,
): DecisionRequest {
  if (secrets === undefined) return request;
  return withEntries(request, (entries) => takeTokens(secrets, entries));
}

function withEntries(
  request: DecisionRequest,
  change: (entries: readonly Entry[]) => readonly Entry[],
): DecisionRequest {
  const descriptors = request.descriptors.map((descriptor) => ({
    ...descriptor,
    entries: change(descriptor.entries),
  }));
  return { ...request, descriptors };
}

export const TOKEN = /^(?:h([1-9]\d{0,2})|s)-[0-9a-f]{32}$/;

/** The scheme of a token; undefined when the text is not a token. */
export function schemeOf(token: string): TokenScheme | undefined {
  const found = TOKEN.exec(token);
  if (found === null) return undefined;
  return found[1] === undefined ? 'sha256' : Number(found[1]);
}
