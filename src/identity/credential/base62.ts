const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = 62n;
/** The largest multiple of 62 in a byte: bytes from here on would favour the first letters. */
const FAIR_BYTES = 248;

export type RandomBytes = (size: number) => Uint8Array;

/** A number that is not negative, with zeros before it up to `width` digits. */
export function toBase62(value: bigint, width: number): string {
  let rest = value;
  let text = '';
  while (rest > 0n) {
    text = ALPHABET.charAt(Number(rest % BASE)) + text;
    rest /= BASE;
  }
  return text.padStart(width, '0');
}

/** So many digits, each as likely as the other. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < FAIR_BYTES && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}
