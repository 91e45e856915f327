/** Octets that later ones are compared with: a copy. */
export interface OctetKey {
  readonly length: number;
  readonly octets: Uint8Array;
  /** The same four at a time, in the order of this machine; up to three at the end are not in it. */
  readonly words: Int32Array;
  /** The last four. */
  readonly lastWord: number;
}

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const WORD = 4;

export function createOctetKey(bytes: Uint8Array, start: number, end: number): OctetKey {
  const octets = new Uint8Array(bytes.subarray(start, end));
  const { buffer, length } = octets;
  return {
    length,
    octets,
    words: new Int32Array(buffer, 0, length >> 2),
    lastWord: length < WORD ? 0 : new DataView(buffer).getInt32(length - WORD, IS_LITTLE_ENDIAN),
  };
}

/**
 * The chunk that was looked at last, how often, and a view that reads words of it. To make the view costs more than three
 * looks: what a socket gives for a single call is compared octet by octet.
 */
let chunk = new Uint8Array(0) as Uint8Array;
let looks = 0;
let view: DataView | undefined;

const LOOKS_BEFORE_VIEW = 3;

/** Whether `bytes[start, start + key.length)` are the octets of `key`; the caller knows that all of them are there. */
export function isKey(key: OctetKey, bytes: Uint8Array, start: number): boolean {
  if (bytes !== chunk) {
    chunk = bytes;
    looks = 0;
    view = undefined;
  }
  if (looks < LOOKS_BEFORE_VIEW || key.length < WORD) {
    looks++;
    return sameOctets(key.octets, bytes, start);
  }
  view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return sameWords(key, view, start);
}

function sameWords({ words, length, lastWord }: OctetKey, bytes: DataView, start: number): boolean {
  if (bytes.getInt32(start + length - WORD, IS_LITTLE_ENDIAN) !== lastWord) return false;
  for (let i = 0, at = start; i < words.length; i++, at += WORD) {
    if (bytes.getInt32(at, IS_LITTLE_ENDIAN) !== words[i]) return false;
  }
  return true;
}

function sameOctets(key: Uint8Array, bytes: Uint8Array, start: number): boolean {
  for (let i = key.length - 1; i >= 0; i--) {
    if (key[i] !== bytes[start + i]) return false;
  }
  return true;
}
