import { isKey, type ByteKey } from './bytes';

interface KnownString<V> {
  readonly key: ByteKey;
  readonly value: V;
}

/**
 * Values by the bytes of the strings that they were made from; comparing those is cheaper than comparing strings. A string is kept
 * when it is seen a second time, so that strings which never repeat (a signed `:authority`) cost no memory and evict nothing. The
 * newest string of a slot wins; all bytes are compared, so that a collision costs time only.
 */
export interface KnownStrings<V> {
  readonly slots: (KnownString<V> | undefined)[];
  /** The bits of a hash that name its slot. */
  readonly mask: number;
  /** Per slot: the hash of the last string that was not kept. */
  readonly seenOnce: Int32Array;
  /** The last hit: most strings of one place are the same. */
  last: KnownString<V> | undefined;
}

/** `slots`: the maximal number of strings, a power of two. */
export function createKnownStrings<V>(slots: number): KnownStrings<V> {
  return {
    slots: new Array<KnownString<V> | undefined>(slots).fill(undefined),
    mask: slots - 1,
    seenOnce: new Int32Array(slots).fill(-1),
    last: undefined,
  };
}

/** The value of `bytes[start, start + length)` if it is that of the last hit; needs no hash. */
export function recallLast<V>(
  { last }: KnownStrings<V>,
  bytes: Uint8Array,
  start: number,
  length: number,
): V | undefined {
  return isString(last, bytes, start, length) ? last.value : undefined;
}

/** The value of `bytes[start, start + length)`; `hash`, not negative, is equal for equal bytes. */
export function recall<V>(
  known: KnownStrings<V>,
  hash: number,
  bytes: Uint8Array,
  start: number,
  length: number,
): V | undefined {
  const found = known.slots[hash & known.mask];
  if (!isString(found, bytes, start, length)) return undefined;
  known.last = found;
  return found.value;
}

/** Whether an unknown string with this hash was seen before; otherwise it is now. */
export function isRepeated({ mask, seenOnce }: KnownStrings<unknown>, hash: number): boolean {
  const slot = hash & mask;
  if (seenOnce[slot] === hash) return true;
  seenOnce[slot] = hash;
  return false;
}

export function keep<V>(known: KnownStrings<V>, hash: number, key: ByteKey, value: V): void {
  known.slots[hash & known.mask] = { key, value };
}

function isString<V>(
  known: KnownString<V> | undefined,
  bytes: Uint8Array,
  start: number,
  length: number,
): known is KnownString<V> {
  return known?.key.length === length && isKey(known.key, bytes, start);
}
