import { type ErrorCode, type ErrorResponse, STATUS_OF_ERROR } from '../contract/errors';
import type { UserInfo } from '../contract/user-info';
import type { OverLimit } from '../limits/limits';
import type { UserRecord } from '../store/records';
import type { UserinfoOutcome } from './outcome';

/** A whole answer, independent of the connection. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type UserinfoProfile = 'documented' | 'full';

const CHALLENGE = 'Bearer realm="identity"';
export const ALLOWED_METHODS = 'GET, HEAD, OPTIONS';

/** Fixed texts: a 401 must not distinguish the faults of a token. */
const DESCRIPTIONS: Readonly<Record<ErrorCode, string>> = {
  invalid_request:
    'the request carries more than one credential, expected one Authorization header',
  unauthorized: 'no bearer token, expected the header Authorization: Bearer <token>',
  invalid_token: 'the access token is not valid',
  invalid_api_key: 'the API key is missing or not valid, expected the header X-API-Key',
  not_found: 'no such path, expected /v1/userinfo',
  method_not_allowed: `the method is not allowed here, expected one of ${ALLOWED_METHODS}`,
  rate_limited: 'too many requests, try again after the time in Retry-After',
  internal: 'a fault of the service, not of the request',
  unavailable: 'the service cannot answer right now, try again',
};

const MESSAGES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

const HEADERS: Readonly<Record<ErrorCode, Readonly<Record<string, string>>>> = {
  invalid_request: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_request"` },
  unauthorized: { 'WWW-Authenticate': CHALLENGE },
  invalid_token: { 'WWW-Authenticate': `${CHALLENGE}, error="invalid_token"` },
  invalid_api_key: { 'WWW-Authenticate': CHALLENGE },
  not_found: {},
  method_not_allowed: { Allow: ALLOWED_METHODS },
  rate_limited: {},
  internal: {},
  unavailable: { 'Retry-After': '1' },
};

/** The answer with an error (behaviour.md §7.3), the same bytes for the same code and request id. */
export function errorAnswer(error: ErrorCode, requestId: string): HttpAnswer {
  const status = STATUS_OF_ERROR[error];
  const body: ErrorResponse = {
    meta: { code: status, message: MESSAGES[status] ?? '' },
    error,
    errorDescription: DESCRIPTIONS[error],
    requestId,
  };
  return { status, headers: HEADERS[error], body: JSON.stringify(body) };
}

export function createAnswers(profile: UserinfoProfile) {
  const print = createUserPrinter(profile === 'full' ? toFullUser : toUser);

  return (outcome: UserinfoOutcome, requestId: string): HttpAnswer => {
    switch (outcome.kind) {
      case 'found': {
        const seconds = Math.floor(outcome.remainingMs / 1_000);
        return { status: 200, headers: {}, body: userinfoBody(seconds, print(outcome.user)) };
      }
      case 'over-limit':
        return overLimitAnswer(outcome.rejection, requestId);
      case 'refused':
        return errorAnswer(outcome.error, requestId);
    }
  };
}

function userinfoBody(remainingSeconds: number, user: string): string {
  const meta = '{"code":200,"message":"Success"}';
  const session = `{"remainingSeconds":${String(remainingSeconds)}}`;
  return `{"meta":${meta},"session":${session},"user":${user}}`;
}

/** A record never changes, so its text is made once. */
function createUserPrinter(toPublic: (user: UserRecord) => object) {
  const texts = new WeakMap<UserRecord, string>();
  return (user: UserRecord): string => {
    let text = texts.get(user);
    if (text === undefined) {
      text = JSON.stringify(toPublic(user));
      texts.set(user, text);
    }
    return text;
  };
}

function overLimitAnswer({ limit, retryAfterSeconds }: OverLimit, requestId: string): HttpAnswer {
  const reset = String(retryAfterSeconds);
  const known = limit === undefined ? {} : { 'RateLimit-Limit': String(limit) };
  const rest = { 'RateLimit-Remaining': '0', 'RateLimit-Reset': reset };
  const answer = errorAnswer('rate_limited', requestId);
  return { ...answer, headers: { 'Retry-After': reset, ...known, ...rest } };
}

/** The documented fields, in the order of identity.openapi.json. */
export function toUser(user: UserRecord): UserInfo {
  const { id, externalId, userName, displayName, emails, photos, names, verifications } = user;
  const { provider, environmentId } = user;
  const { familyName, givenName } = names;
  return {
    id,
    externalId,
    userName,
    displayName,
    emails,
    photos,
    names: { familyName, givenName },
    verifications,
    provider,
    environmentId,
  };
}

/**
 * Fields that strict published clients require (IDENTITY_USERINFO_PROFILE=full). Entries that need an id of their own get one
 * derived from the user's and their index.
 */
function toFullUser(user: UserRecord) {
  const { emails, photos, names, ...rest } = user;
  const entryId = (kind: string, index: number): string => `${user.id}-${kind}-${String(index)}`;
  return {
    ...rest,
    names: { id: `${user.id}-names`, ...names },
    emails: emails.map((email, index) => ({ id: entryId('email', index), ...email })),
    photos: photos.map((photo, index) => ({ id: entryId('photo', index), ...photo })),
    phoneNumbers: [],
    addresses: [],
  };
}
