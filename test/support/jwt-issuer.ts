import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from 'jose';

export const ISSUER = 'https://login.test';
export const AUDIENCE = 'https://api.test';

/** A key pair under a name. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

export async function createSigningKey(kid: string, alg = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export interface Claims {
  readonly sub?: unknown;
  readonly sid?: unknown;
  readonly iss?: unknown;
  readonly aud?: unknown;
  readonly exp?: unknown;
  readonly iat?: unknown;
  readonly nbf?: unknown;
}

/** An access token as an issuer makes it; `undefined` leaves a claim out. */
export function signToken(key: SigningKey, claims: Claims, header: object = {}): Promise<string> {
  // Tests sign also what no issuer should.
  return new SignJWT({ iss: ISSUER, aud: AUDIENCE, ...claims } as JWTPayload)
    .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'at+jwt', ...header })
    .sign(key.privateKey);
}

/** A server with a key set; what it answers is up to the test. */
export async function startKeyServer() {
  let answer: (response: ServerResponse) => void = () => undefined;
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/jwks`,
    asked: () => asked,
    answer(next: typeof answer) {
      answer = next;
    },
    serve(...keys: readonly SigningKey[]) {
      answer = (response) => response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
    },
    stop() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

export type KeyServer = Awaited<ReturnType<typeof startKeyServer>>;
