import { byteAt } from '../../bytes';

/** What the name of a header field means for the checks of a header list (RFC 9113 §8.2, §8.3). */
export const FieldKind = {
  regular: 0,
  method: 1,
  scheme: 2,
  path: 3,
  authority: 4,
  /** A pseudo field that requests must not have: `:status`, or an unknown one. */
  unknownPseudo: 5,
  /** connection, keep-alive and so on: they belong to one HTTP/1 connection. */
  connectionSpecific: 6,
  te: 7,
  contentLength: 8,
  /** Not a lower case token. */
  badName: 9,
  /** A regular field whose value the owner does not read: checked and counted, but not kept. */
  unread: 10,
  /** A regular field whose value a placeholder may replace. */
  replaced: 11,
} as const;

/** A field as a table holds it. Bytes become latin1 characters, so that a string's length is its bytes. */
export interface HeaderField {
  readonly name: string;
  readonly value: string;
  /** A number of `FieldKind`. */
  readonly kind: number;
  /** Whether the value is valid (RFC 9113 §8.2.1). */
  readonly isValidValue: boolean;
  /** As RFC 7541 §4.1 and RFC 9113 §6.5.2 count it: the bytes of both, and FIELD_OVERHEAD. */
  readonly size: number;
  /** For a field without a value: the last field derived from it for a value that is not kept. */
  derived: HeaderField | undefined;
}

/** RFC 7541 §4.1 and RFC 9113 §6.5.2 add this to the bytes of each field. */
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
  if (name.startsWith(':')) return FieldKind.unknownPseudo;
  return LOWER_CASE_TOKEN.test(name) ? FieldKind.regular : FieldKind.badName;
}

/** The kind for a reader of these names only (undefined: all); `replacedName` is the field with placeholders. */
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

/** Whether `bytes[0, length)` holds no NUL, CR or LF, and no blank or tab at either end (RFC 9113 §8.2.1). */
export function isFieldValue(bytes: Uint8Array, length: number): boolean {
  for (let i = 0; i < length; i++) {
    const byte = byteAt(bytes, i);
    if (byte < SPACE && (byte === 0 || byte === 10 || byte === 13)) return false;
  }
  return hasNoBlankEnds(bytes, length);
}

export function hasNoBlankEnds(bytes: Uint8Array, length: number): boolean {
  return length === 0 || !(isBlank(byteAt(bytes, 0)) || isBlank(byteAt(bytes, length - 1)));
}

function isBlank(byte: number): boolean {
  return byte === SPACE || byte === 9;
}
