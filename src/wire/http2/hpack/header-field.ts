import { octetAt } from '../octets';
/** What a header field's name means to the one who judges a header list (RFC 9113 §8.2, §8.3). */
export const FieldKind = {
  regular: 0,
  method: 1,
  scheme: 2,
  path: 3,
  authority: 4,
  /** A pseudo field that no request may have: `:status`, or an unknown one. */
  foreignPseudo: 5,
  /** connection, keep-alive and so on: they belong to one HTTP/1 connection. */
  connectionSpecific: 6,
  te: 7,
  contentLength: 8,
  /** Not a lower case token. */
  badName: 9,
  /** A regular field whose value nobody reads: it is checked and counted, and not kept. */
  unread: 10,
  /** A regular field for whose value another text may stand. */
  replaced: 11,
} as const;

/** A field as a table holds it. Octets are latin1, so that a string's length is its count of octets. */
export interface HeaderField {
  readonly name: string;
  readonly value: string;
  /** A number of `FieldKind`. */
  readonly kind: number;
  /** Whether the value may stand in a header (RFC 9113 §8.2.1). */
  readonly valueOk: boolean;
  /** As RFC 7541 §4.1 and RFC 9113 §6.5.2 count it: the octets of both, and FIELD_OVERHEAD. */
  readonly size: number;
  /** Of a field without a value: the last one that was made of it for a value that is not kept. */
  made: HeaderField | undefined;
}

/** RFC 7541 §4.1 and RFC 9113 §6.5.2 count so much per field on top of its octets. */
export const FIELD_OVERHEAD = 32;

const SPECIAL: ReadonlyMap<string, number> = new Map([
  [':method', FieldKind.method],
  [':scheme', FieldKind.scheme],
  [':path', FieldKind.path],
  [':authority', FieldKind.authority],
  ['connection', FieldKind.connectionSpecific],
  ['proxy-connection', FieldKind.connectionSpecific],
  ['keep-alive', FieldKind.connectionSpecific],
  ['transfer-encoding', FieldKind.connectionSpecific],
  ['upgrade', FieldKind.connectionSpecific],
  ['te', FieldKind.te],
  ['content-length', FieldKind.contentLength],
]);

/** token of RFC 9110 §5.6.2 without the capitals (RFC 9113 §8.2.1). */
const LOWER_CASE_TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;

export function fieldKind(name: string): number {
  const special = SPECIAL.get(name);
  if (special !== undefined) return special;
  if (name.startsWith(':')) return FieldKind.foreignPseudo;
  return LOWER_CASE_TOKEN.test(name) ? FieldKind.regular : FieldKind.badName;
}

/** The kind for a reader of these names only, undefined reads all; for one of them another text may stand. */
export function kindForReader(
  kind: number,
  name: string,
  readNames: ReadonlySet<string> | undefined,
  replacedName?: string,
): number {
  const isUnread = kind === FieldKind.regular && readNames?.has(name) === false;
  if (isUnread) return FieldKind.unread;
  return kind === FieldKind.regular && name === replacedName ? FieldKind.replaced : kind;
}

const SPACE = 0x20;

/** No NUL, CR, LF anywhere; no blank or tab at either end (RFC 9113 §8.2.1). For `bytes[0, length)`. */
export function isFieldValue(bytes: Uint8Array, length: number): boolean {
  for (let i = 0; i < length; i++) {
    const octet = octetAt(bytes, i);
    if (octet < SPACE && (octet === 0 || octet === 10 || octet === 13)) return false;
  }
  return hasNoBlankEnds(bytes, length);
}

export function hasNoBlankEnds(bytes: Uint8Array, length: number): boolean {
  return length === 0 || !(isBlank(octetAt(bytes, 0)) || isBlank(octetAt(bytes, length - 1)));
}

function isBlank(octet: number): boolean {
  return octet === SPACE || octet === 9;
}
