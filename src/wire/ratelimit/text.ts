/** Strings up to this length are worth remembering. */
const MAX_REMEMBERED_LENGTH = 64;

type Four = [number, number, number, number];

/** Works on any bytes, which the types of `Buffer` do not say. */
const { latin1Slice } = Buffer.prototype as unknown as {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string;
};

/** The text of `bytes[start, end)`; undefined when it is no UTF-8. */
export type ReadText = (bytes: Uint8Array, start: number, end: number) => string | undefined;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Makes a new text each time. */
export function readText(bytes: Uint8Array, start: number, end: number): string | undefined {
  let seen = 0;
  for (let at = start; at < end; at++) seen |= bytes[at] as number;
  return seen < 0x80 ? asciiText(bytes, start, end) : decode(bytes.subarray(start, end));
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * A reader that remembers `slots` short ASCII texts (a power of two). Texts that come again are the
 * same string object, already hashed for the maps behind it. The memory is one string and 65 octets per
 * slot, the newest wins, and what is remembered is compared octet by octet, so a collision costs time, never truth.
 */
export function createTextReader(slots: number): ReadText {
  const texts = new Array<string>(slots).fill('');
  // Octets are compared with octets: strings are of many kinds within, which costs at every character.
  const octets = new Uint8Array(slots * MAX_REMEMBERED_LENGTH);
  const lengths = new Uint8Array(slots);
  const mask = slots - 1;
  return (bytes, start, end) => {
    const length = end - start;
    if (length > MAX_REMEMBERED_LENGTH) return readText(bytes, start, end);
    let hash = length;
    let seen = 0;
    for (let at = start; at < end; at++) {
      const byte = bytes[at] as number;
      seen |= byte;
      hash = (Math.imul(hash, 31) + byte) | 0;
    }
    if (seen >= 0x80) return decode(bytes.subarray(start, end));
    const slot = (hash ^ (hash >>> 15)) & mask;
    const from = slot * MAX_REMEMBERED_LENGTH;
    if (lengths[slot] === length && isSame(octets, from, bytes, start, length)) return texts[slot];
    lengths[slot] = length;
    for (let i = 0; i < length; i++) octets[from + i] = bytes[start + i] as number;
    return (texts[slot] = asciiText(bytes, start, end));
  };
}

function isSame(
  known: Uint8Array,
  from: number,
  bytes: Uint8Array,
  start: number,
  length: number,
): boolean {
  for (let i = 0; i < length; i++) {
    if (known[from + i] !== bytes[start + i]) return false;
  }
  return true;
}

/** Up to here V8 joins pieces by copying; a longer join would be a tree that is flattened later. */
const MAX_JOINED_LENGTH = 12;

function asciiText(bytes: Uint8Array, start: number, end: number): string {
  if (end - start > MAX_JOINED_LENGTH) return latin1Slice.call(bytes, start, end);
  let text = '';
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const [a, b, c, d] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]] as Four;
    text += String.fromCharCode(a, b, c, d);
  }
  for (; at < end; at++) text += String.fromCharCode(bytes[at] as number);
  return text;
}
