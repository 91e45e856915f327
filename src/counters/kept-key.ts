import { hash } from 'node:crypto';

/** Longer keys are stored as a digest. */
const MAX_KEPT_LENGTH = 256;

/** The key under which a counter is stored: a long one is replaced by its SHA-256, so that no counter holds the bytes of its request. */
export function toKeptKey(key: string): string {
  return key.length <= MAX_KEPT_LENGTH ? key : hash('sha256', key, 'base64url');
}

/** The most that V8 needs for the characters of a string. */
export function bytesOfText({ length }: string): number {
  return 2 * length;
}
