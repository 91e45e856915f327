import { jwtVerify, type JWTPayload, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose';
import { isId } from '../store/records';
import { KeysUnavailable, type JwtVerifier } from './jwt-verifier';

export interface JwtVerifierDeps {
  readonly keys: JWTVerifyGetKey;
  /** Unix milliseconds. */
  readonly nowMs: () => number;
}

export interface JwtVerifierOptions {
  readonly issuer: string;
  readonly audience: string;
}

/** A holder of a public key must not be able to sign: no HS256, and never `none` (RFC 8725 §3.1). */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** JWT access tokens (RFC 9068) of one issuer for one audience. Their session is looked up by `sid`. */
export function createJwtVerifier(
  { keys, nowMs }: JwtVerifierDeps,
  { issuer, audience }: JwtVerifierOptions,
): JwtVerifier {
  const fixed: JWTVerifyOptions = {
    algorithms: ALGORITHMS,
    typ: 'at+jwt',
    issuer,
    audience,
    requiredClaims: ['exp', 'iat', 'sub', 'sid'],
  };
  const read = async (text: string): Promise<JWTPayload | undefined> => {
    try {
      const options = { ...fixed, currentDate: new Date(nowMs()) };
      return (await jwtVerify(text, keys, options)).payload;
    } catch (error) {
      if (error instanceof KeysUnavailable) throw error;
      return undefined;
    }
  };
  return {
    async verify(text) {
      const { sub, sid, exp = 0 } = (await read(text)) ?? {};
      // The library counts whole seconds.
      if (exp * 1_000 <= nowMs()) return undefined;
      if (typeof sub !== 'string' || typeof sid !== 'string') return undefined;
      return isId(sub) && isId(sid) ? { userId: sub, sessionId: sid } : undefined;
    },
  };
}
