import type { Credentials } from '../store/store';

/** Who a JWT access token speaks for, once its signature and its claims were found right. */
export interface JwtVerifier {
  /** Undefined: not one that counts here. Rejects with `KeysUnavailable` when nobody can tell. */
  verify(text: string): Promise<Credentials | undefined>;
}

/** The key set cannot be had now, so that nobody knows whether a token is good. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  readonly code = 'keys_unavailable';
}

const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Whether a text has the shape of a signed JWT (RFC 7515 §3.1). */
export function looksLikeJwt(text: string): boolean {
  return COMPACT_JWS.test(text);
}
