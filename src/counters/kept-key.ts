import { hash } from 'node:crypto';

/** Characters up to which a key is kept as it is. */
const MAX_KEPT_LENGTH = 256;

/** The key under which a counter is kept: of a long one its SHA-256, so that no counter takes the bytes of its request. */
export function toKeptKey(key: string): string {
  return key.length <= MAX_KEPT_LENGTH ? key : hash('sha256', key, 'base64url');
}

/** The most that V8 takes for the characters of a text. */
export function bytesOfText({ length }: string): number {
  return 2 * length;
}
