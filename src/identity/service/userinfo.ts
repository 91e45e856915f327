import type { IncomingMessage } from 'node:http';
import { matchesHash, parseCredential } from '../credential';
import { KeysUnavailable, looksLikeJwt, type JwtVerifier } from '../jwt/jwt-verifier';
import type { Limits, LimitRejection } from '../limits/limits';
import { StoreUnavailable, type TokenOwner, type IdentityReader } from '../store/store';
import { headerValues, readBearer } from './bearer';
import { refused, type UserinfoOutcome, type Reason } from './outcome';
import { hash } from 'node:crypto';

/** Hashes of a client's credentials, so that memory and core dumps contain none. */
export interface Shown {
  /** Hash of the address and the token. */
  readonly pair: string;
  /** Hash of the accompanying API key. */
  readonly apiKey: string;
}

/** About 250 bytes each. */
const MAX_KNOWN = 10_000;

/**
 * Credentials that were valid recently, with their addresses. They exempt their clients from a budget that their neighbours have
 * spent, and prove nothing: each of them is checked again.
 *
 * The address is part of it, so that one address cannot learn whether a token is in use at another.
 */
export function createKnownCredentials(max = MAX_KNOWN) {
  /** The API key by the pair: a caller who varies it occupies one entry all the same. */
  const known = new Map<string, string>();
  return {
    has: ({ pair, apiKey }: Shown) => known.get(pair) === apiKey,
    add({ pair, apiKey }: Shown) {
      known.delete(pair);
      const [oldest] = known.keys();
      if (known.size >= max && oldest !== undefined) known.delete(oldest);
      known.set(pair, apiKey);
    },
    drop({ pair }: Shown) {
      known.delete(pair);
    },
  };
}

/** No header contains a line break, so that different lists of texts differ. */
export function toShown(address: string, token: string, apiKeys: readonly string[]): Shown {
  const digest = (text: string): string => hash('sha256', text, 'base64url');
  return {
    pair: digest(`${address}\n${token}`),
    apiKey: apiKeys.length === 0 ? '' : digest(apiKeys.join('\n')),
  };
}

export interface UserinfoDeps {
  readonly store: IdentityReader;
  /** Undefined: JWTs are not accepted. */
  readonly jwt: JwtVerifier | undefined;
  readonly limits: Limits;
  readonly clientAddress: (request: IncomingMessage) => string;
}

/** Longer texts are refused unread (behaviour.md §7.3). */
export const MAX_TOKEN_LENGTH = 4_096;

/** A refused credential. */
interface Fault {
  readonly kind: 'fault';
  readonly error: 'invalid_token' | 'invalid_api_key';
  readonly reason: Reason;
}

type Verified = { readonly kind: 'good'; readonly token: TokenOwner } | Fault;

/** `GET /v1/userinfo` in its steps: bearer, limit, verify, load. Never rejects because of a client's input. */
export function createUserinfo({ store, jwt, limits, clientAddress }: UserinfoDeps) {
  const known = createKnownCredentials();

  const load = async (token: TokenOwner): Promise<UserinfoOutcome | Fault> => {
    const { user, remainingMs } = await store.findOwner(token);
    if (remainingMs === undefined || remainingMs <= 0) return badToken('session_over');
    if (user === undefined) return badToken('user_gone');
    if (!user.active) return badToken('user_disabled');

    const rejection = await limits.chargeUser(user.id);
    return rejection === undefined ? { kind: 'found', user, remainingMs } : toOutcome(rejection);
  };

  const checkCredentials = async (
    request: IncomingMessage,
    token: string,
  ): Promise<UserinfoOutcome | Fault> => {
    if (!(await hasApiKey(store, request)))
      return { kind: 'fault', error: 'invalid_api_key', reason: 'api_key' };
    const verified = await verify(store, jwt, token);
    return verified.kind === 'good' ? load(verified.token) : verified;
  };

  const check = async (request: IncomingMessage): Promise<UserinfoOutcome> => {
    const bearer = readBearer(request);
    const address = clientAddress(request);
    if (bearer.kind !== 'token') {
      const rejection = await limits.admit(address, false);
      if (rejection !== undefined) return toOutcome(rejection);
      return bearer.kind === 'none'
        ? refused('unauthorized', 'no_credentials')
        : refused('invalid_request', 'ambiguous_credentials');
    }
    const shown = toShown(address, bearer.token, headerValues(request, 'x-api-key'));
    const rejection = await limits.admit(address, known.has(shown));
    if (rejection !== undefined) return toOutcome(rejection);
    const checked = await checkCredentials(request, bearer.token);
    if (checked.kind === 'found') known.add(shown);
    if (checked.kind !== 'fault') return checked;
    // A refused credential is charged; an address with too many of them has to wait.
    known.drop(shown);
    const charged = await limits.chargeFailure(address);
    return charged === undefined ? refused(checked.error, checked.reason) : toOutcome(charged);
  };

  return async (request: IncomingMessage): Promise<UserinfoOutcome> => {
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
  if (text.length > MAX_TOKEN_LENGTH) return badToken('malformed_token');
  if (jwt !== undefined && looksLikeJwt(text)) return verifyJwt(jwt, text);
  const credential = parseCredential('token', text);
  if (credential === undefined) return badToken('malformed_token');
  const token = await store.findToken(credential.id);
  const isRight = matchesHash(credential.secret, token?.secretHash);
  if (token === undefined) return badToken('unknown_token');
  return isRight ? { kind: 'good', token } : badToken('wrong_secret');
}

async function verifyJwt(jwt: JwtVerifier, text: string): Promise<Verified> {
  const token = await jwt.verify(text);
  return token === undefined ? badToken('invalid_jwt') : { kind: 'good', token };
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

function badToken(reason: Reason): Fault {
  return { kind: 'fault', error: 'invalid_token', reason };
}

function toOutcome(rejection: LimitRejection): UserinfoOutcome {
  return rejection.kind === 'over-limit'
    ? { kind: 'over-limit', rejection }
    : refused('unavailable', 'no_decision');
}
