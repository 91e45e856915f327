import type { TokenOwner } from '../store/store';

/** Verifies JWT access tokens, and returns the user of a token whose signature and claims are valid. */
export interface JwtVerifier {
  /** Undefined: not valid for this service. Rejects with `KeysUnavailable` when the keys cannot be read. */
  verify(text: string): Promise<TokenOwner | undefined>;
}

/** The key set cannot be read, so whether a token is valid is unknown. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable';
  readonly code = 'keys_unavailable';
}

const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Whether a text has the shape of a signed JWT (RFC 7515 §3.1). */
export function looksLikeJwt(text: string): boolean {
  return COMPACT_JWS.test(text);
}
