import { hash, type KeyObject } from 'node:crypto';

/** The block of SHA-256 in bytes. */
const BLOCK = 64;
const DIGEST = 32;
/** Longer texts get a buffer of their own. */
const MAX_KEPT_BYTES = 4_096;
/** Maximal bytes of a UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_UNIT = 3;
/** Bytes of a digest that a token shows. */
const SHOWN = 16;

/** Makes the first 128 bits of a hash of a text as 32 hexadecimal digits. */
export type HashText = (text: string) => string;

/** HMAC-SHA-256 by two one-shot hashes with prepared pads: less than half the time of `createHmac`. */
export function createKeyedHash(key: KeyObject): HashText {
  const secret = key.export();
  const short = secret.length > BLOCK ? hash('sha256', secret, 'buffer') : secret;
  const inner = Buffer.alloc(BLOCK + MAX_KEPT_BYTES);
  const outer = Buffer.alloc(BLOCK + DIGEST);
  for (let at = 0; at < BLOCK; at++) {
    inner[at] = (short[at] ?? 0) ^ 0x36;
    outer[at] = (short[at] ?? 0) ^ 0x5c;
  }
  return (text) => {
    hash('sha256', padded(inner, text), 'buffer').copy(outer, BLOCK);
    return hash('sha256', outer, 'buffer').toString('hex', 0, SHOWN);
  };
}

function padded(inner: Buffer, text: string): Buffer {
  if (text.length * MAX_BYTES_PER_UNIT > MAX_KEPT_BYTES)
    return Buffer.concat([inner.subarray(0, BLOCK), Buffer.from(text)]);
  return inner.subarray(0, BLOCK + inner.write(text, BLOCK));
}

/** SHA-256 without a key. */
export const plainHash: HashText = (text) =>
  hash('sha256', text, 'buffer').toString('hex', 0, SHOWN);
