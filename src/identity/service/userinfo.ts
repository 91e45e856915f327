import type { IncomingMessage } from 'node:http';
import { matchesHash, parseCredential } from '../credential/credential';
import { KeysUnavailable, looksLikeJwt, type JwtVerifier } from '../jwt/jwt-verifier';
import type { Limits, Obstacle } from '../limits/limits';
import { StoreUnavailable, type Credentials, type IdentityReader } from '../store/store';
import { headerValues, readBearer } from './bearer';
import { refused, type Outcome, type Reason } from './outcome';

export interface UserinfoDeps {
  readonly store: IdentityReader;
  /** Undefined: JWTs are not taken. */
  readonly jwt: JwtVerifier | undefined;
  readonly limits: Limits;
  readonly clientAddress: (request: IncomingMessage) => string;
}

/** Longer texts are not looked at (behaviour.md §7.3). */
export const MAX_TOKEN_LENGTH = 4_096;

type Verified =
  | { readonly kind: 'good'; readonly token: Credentials }
  | { readonly kind: 'bad'; readonly reason: Reason };

/** `GET /v1/userinfo` in its steps: bearer, limit, verify, load. Never rejects for what a caller sends. */
export function createUserinfo({ store, jwt, limits, clientAddress }: UserinfoDeps) {
  /** A refused credential costs; who has presented too many of them has to wait. */
  const fail = async (
    address: string,
    error: 'invalid_token' | 'invalid_api_key',
    reason: Reason,
  ): Promise<Outcome> => {
    const obstacle = await limits.chargeFailure(address);
    return obstacle === undefined ? refused(error, reason) : toOutcome(obstacle);
  };

  const load = async (token: Credentials): Promise<Outcome | Reason> => {
    const { user, remainingMs } = await store.findOwner(token);
    if (remainingMs === undefined || remainingMs <= 0) return 'session_over';
    if (user === undefined) return 'user_gone';
    if (!user.active) return 'user_disabled';

    const obstacle = await limits.chargeUser(user.id);
    return obstacle === undefined ? { kind: 'found', user, remainingMs } : toOutcome(obstacle);
  };

  const check = async (request: IncomingMessage): Promise<Outcome> => {
    const bearer = readBearer(request);
    const address = clientAddress(request);
    const obstacle = await limits.admit(address);
    if (obstacle !== undefined) return toOutcome(obstacle);
    if (bearer.kind === 'none') return refused('unauthorized', 'no_credentials');
    if (bearer.kind === 'ambiguous') return refused('invalid_request', 'ambiguous_credentials');
    if (!(await hasApiKey(store, request))) return fail(address, 'invalid_api_key', 'api_key');
    const verified = await verify(store, jwt, bearer.token);
    if (verified.kind === 'bad') return fail(address, 'invalid_token', verified.reason);
    const loaded = await load(verified.token);
    return typeof loaded === 'string' ? fail(address, 'invalid_token', loaded) : loaded;
  };

  return async (request: IncomingMessage): Promise<Outcome> => {
    try {
      return await check(request);
    } catch (error) {
      if (error instanceof StoreUnavailable) return refused('unavailable', 'store_unavailable');
      if (error instanceof KeysUnavailable) return refused('unavailable', 'keys_unavailable');
      throw error;
    }
  };
}

async function verify(
  store: IdentityReader,
  jwt: JwtVerifier | undefined,
  text: string,
): Promise<Verified> {
  if (text.length > MAX_TOKEN_LENGTH) return { kind: 'bad', reason: 'malformed_token' };
  if (jwt !== undefined && looksLikeJwt(text)) return verifyJwt(jwt, text);
  const credential = parseCredential('token', text);
  if (credential === undefined) return { kind: 'bad', reason: 'malformed_token' };
  const token = await store.findToken(credential.id);
  const isRight = matchesHash(credential.secret, token?.secretHash);
  if (token === undefined) return { kind: 'bad', reason: 'unknown_token' };
  return isRight ? { kind: 'good', token } : { kind: 'bad', reason: 'wrong_secret' };
}

async function verifyJwt(jwt: JwtVerifier, text: string): Promise<Verified> {
  const token = await jwt.verify(text);
  return token === undefined ? { kind: 'bad', reason: 'invalid_jwt' } : { kind: 'good', token };
}

/** True also where no API keys are configured. */
async function hasApiKey(store: IdentityReader, request: IncomingMessage): Promise<boolean> {
  const keys = await store.apiKeys();
  if (keys.length === 0) return true;
  const [text = '', second] = headerValues(request, 'x-api-key');
  const credential = second === undefined ? parseCredential('apiKey', text) : undefined;
  if (credential === undefined) return false;
  const key = keys.find(({ id }) => id === credential.id);
  return matchesHash(credential.secret, key?.secretHash);
}

function toOutcome(obstacle: Obstacle): Outcome {
  return obstacle.kind === 'over-limit'
    ? { kind: 'over-limit', obstacle }
    : refused('unavailable', 'no_decision');
}
