import type { TokenOwner } from '../store/store';

/** The user whom a JWT access token speaks for, once its signature and its claims were found right. */
export interface JwtVerifier {
  /** Undefined: not valid for this service. Rejects with `KeysUnavailable` when the keys cannot be read. */
  verify(text: string): Promise<TokenOwner | undefined>;
}

/** The key set cannot be read, so whether a token is good is unknown. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  readonly code = 'keys_unavailable';
}

const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Whether a text has the shape of a signed JWT (RFC 7515 §3.1). */
export function looksLikeJwt(text: string): boolean {
  return COMPACT_JWS.test(text);
}
