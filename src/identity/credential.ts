import { createHash, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** The parts of an access token or an API key: a public id and a secret (behaviour.md §7.5). */
interface Credential {
  /** 16 base62 digits; names the record in the store. */
  readonly id: string;
  /** 43 base62 digits: 32 random bytes. Never stored. */
  readonly secret: string;
}

type CredentialKind = 'token' | 'apiKey';

const PREFIX: Readonly<Record<CredentialKind, string>> = { token: 'idt_', apiKey: 'idk_' };
const ID_LENGTH = 16;
const SECRET_BYTES = 32;
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const DIGITS = /^[0-9A-Za-z]{65}$/;
const PREFIX_LENGTH = 4;
const HASH_BYTES = 32;

export function createCredential(randomBytes: RandomBytes): Credential {
  const bytes = Buffer.from(randomBytes(SECRET_BYTES));
  const secret = toBase62(BigInt(`0x${bytes.toString('hex')}`), SECRET_LENGTH);
  return { id: createId(randomBytes), secret };
}

/** A public id for a token, a session, a user. */
export function createId(randomBytes: RandomBytes): string {
  return randomBase62(ID_LENGTH, randomBytes);
}

/** `idt_` (`idk_` for an API key), the id, the secret, and the CRC-32 of all that. */
export function formatCredential(kind: CredentialKind, { id, secret }: Credential): string {
  const body = `${PREFIX[kind]}${id}${secret}`;
  return body + checksum(body);
}

/** Undefined for every text that is not one; the checksum saves the store lookups of typos. */
export function parseCredential(kind: CredentialKind, text: string): Credential | undefined {
  if (!text.startsWith(PREFIX[kind]) || !DIGITS.test(text.slice(PREFIX_LENGTH))) return undefined;
  const body = text.slice(0, -CHECKSUM_LENGTH);
  if (checksum(body) !== text.slice(-CHECKSUM_LENGTH)) return undefined;
  const secretAt = PREFIX_LENGTH + ID_LENGTH;
  return { id: body.slice(PREFIX_LENGTH, secretAt), secret: body.slice(secretAt) };
}

function checksum(body: string): string {
  return toBase62(BigInt(crc32(body)), CHECKSUM_LENGTH);
}

/** SHA-256 of a secret in hex: the only form that is ever stored. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

const NO_HASH = '0'.repeat(HASH_BYTES * 2);

/** Compares in constant time, even without a hash to compare with. */
export function matchesHash(secret: string, hash: string | undefined): boolean {
  const actual = Buffer.from(hashSecret(secret), 'hex');
  const expected = Buffer.from(hash ?? NO_HASH, 'hex');
  const isSame = expected.length === HASH_BYTES && timingSafeEqual(actual, expected);
  return isSame && hash !== undefined;
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const BASE = 62n;
/** The largest multiple of 62 in a byte: larger bytes would favour the first letters. */
const FAIR_BYTES = 248;

export type RandomBytes = (size: number) => Uint8Array;

/** A non-negative number, padded with zeros to `width` digits. */
export function toBase62(value: bigint, width: number): string {
  let rest = value;
  let text = '';
  while (rest > 0n) {
    text = ALPHABET.charAt(Number(rest % BASE)) + text;
    rest /= BASE;
  }
  return text.padStart(width, '0');
}

/** Uniformly distributed digits. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < FAIR_BYTES && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}
