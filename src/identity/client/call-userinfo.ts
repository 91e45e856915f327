import type { UserInfoResponse } from '../contract/user-info';
import { APIError, AuthenticationError, type IdentityError } from './errors';

/** The part of an answer that the client reads. */
export interface FetchedResponse {
  readonly status: number;
  readonly type?: string;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** The part of the platform's `fetch` that the client uses. */
export type Fetch = (
  url: string,
  init: {
    readonly method: 'GET';
    readonly headers: Record<string, string>;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<FetchedResponse>;

interface UserinfoCall {
  readonly url: string;
  readonly token: string;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
  readonly fetch: Fetch;
  readonly signal: AbortSignal | undefined;
}

/** Valid characters of a header's value; others would appear in an error of the platform. */
const HEADER_TEXT = /^[\x21-\x7e]+$/;

/** One call, without retries. Rejects with an `AuthenticationError` or an `APIError`. */
export async function callUserinfo(call: UserinfoCall): Promise<UserInfoResponse> {
  const { token, apiKey, timeoutMs, signal } = call;
  if (!HEADER_TEXT.test(token)) throw badCredential('access token');
  if (apiKey !== undefined && !HEADER_TEXT.test(apiKey)) throw badCredential('API key');
  const deadline = createDeadline(timeoutMs, signal);
  try {
    const { response, body } = await ask(call, deadline);
    return read(response, body);
  } finally {
    deadline.clear();
  }
}

function badCredential(what: string): APIError {
  const expected = 'expected visible ASCII characters without spaces';
  return new APIError('bad_credential', `the ${what} cannot be sent in a header, ${expected}`);
}

async function ask(
  { url, token, apiKey, fetch, signal, timeoutMs }: UserinfoCall,
  deadline: Deadline,
) {
  const headers: Record<string, string> = {
    Accept: 'application/json',
    Authorization: `Bearer ${token}`,
  };
  if (apiKey !== undefined) headers['X-API-Key'] = apiKey;
  try {
    if (deadline.ended !== undefined) throw new Error('ended before it began');
    const init = { method: 'GET', headers, redirect: 'manual', signal: deadline.signal } as const;
    const response = await fetch(url, init);
    return { response, body: await response.text() };
  } catch (error) {
    if (deadline.ended === 'aborted') {
      throw new APIError('aborted', `the call to ${url} was aborted`, { cause: signal?.reason });
    }
    if (deadline.ended === 'timeout') {
      throw new APIError('timeout', `no answer from ${url} within ${String(timeoutMs)} ms`);
    }
    throw networkError(url, error, [token, apiKey ?? token]);
  }
}

/** The error may quote the credentials that were passed in. */
function networkError(url: string, error: unknown, secrets: readonly string[]): APIError {
  const { message = '', cause } = Object(error) as { message?: string; cause?: unknown };
  const { message: inner = '' } = Object(cause) as { message?: string };
  const full = [message, inner].filter((text) => text !== '').join(': ');
  const reason = secrets.reduce((text, secret) => text.replaceAll(secret, '***'), full);
  return new APIError('network', `cannot reach ${url}: ${reason || 'the connection failed'}`);
}

function read(response: FetchedResponse, body: string): UserInfoResponse {
  const { status } = response;
  if (status !== 200) throw statusError(response, body);
  const parsed = parseUserInfoResponse(body);
  const requestId = response.headers.get('x-request-id') ?? undefined;
  if (!parsed.ok) {
    const message = `the body is not a valid UserInfoResponse: ${parsed.problem}`;
    throw new APIError('bad_body', message, { status, requestId });
  }
  const { code } = parsed.response.meta;
  if (code === 200) return parsed.response;
  const message = `meta.code is ${String(code)}, expected 200`;
  throw new APIError('bad_body', message, { status, requestId });
}

function statusError(response: FetchedResponse, body: string): IdentityError {
  const { status, type, headers } = response;
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    return new APIError('redirect', 'the service answered with a redirect, which is not followed', {
      status,
    });
  }
  const answer = parseErrorBody(body);
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  const details = {
    requestId: headers.get('x-request-id') ?? undefined,
    ...answer,
    status,
    retryAfterSeconds: Number.isFinite(seconds) ? seconds : undefined,
  };
  const error = answer.error === undefined ? '' : ` (${answer.error})`;
  const message = `the service answered ${String(status)}${error}`;
  return status === 401
    ? new AuthenticationError(message, details)
    : new APIError('status', message, details);
}

/** Ends a call on its time-out or when the caller aborts it. */
interface Deadline {
  readonly signal: AbortSignal;
  /** Why it ended; undefined: it did not. */
  readonly ended: 'timeout' | 'aborted' | undefined;
  /** Releases the timer and the listener. */
  clear(): void;
}

function createDeadline(timeoutMs: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let ended: Deadline['ended'];
  const end = (why: 'timeout' | 'aborted'): void => {
    ended ??= why;
    controller.abort();
  };
  const abort = (): void => {
    end('aborted');
  };
  const timer = setTimeout(end, timeoutMs, 'timeout');
  if (outer?.aborted === true) abort();
  else outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    get ended() {
      return ended;
    },
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}

type Check = (value: unknown, where: string) => string | undefined;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const text: Check = (value, where) =>
  typeof value === 'string' ? undefined : `${where} is not a string`;
const textOrNull: Check = (value, where) => (value === null ? undefined : text(value, where));
const flag: Check = (value, where) =>
  typeof value === 'boolean' ? undefined : `${where} is neither true nor false`;
const whole: Check = (value, where) =>
  Number.isSafeInteger(value) ? undefined : `${where} is not a whole number`;

function object(fields: Readonly<Record<string, Check>>): Check {
  return (value, where) => {
    if (!isObject(value)) return `${where} is not an object`;
    for (const [name, check] of Object.entries(fields)) {
      const problem = check(value[name], where === '' ? name : `${where}.${name}`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

function list(item: Check): Check {
  return (value, where) => {
    if (!Array.isArray(value)) return `${where} is not a list`;
    for (const [index, entry] of value.entries()) {
      const problem = item(entry, `${where}[${String(index)}]`);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

const verification = { id: text, email: text, verified: flag, createdAt: text, updatedAt: text };

const user = object({
  id: text,
  externalId: text,
  userName: text,
  displayName: text,
  emails: list(object({ value: text, type: textOrNull })),
  photos: list(object({ value: text, type: text })),
  names: object({ familyName: text, givenName: text }),
  verifications: list(object(verification)),
  provider: text,
  environmentId: text,
});

const response = object({
  meta: object({ code: whole, message: text }),
  session: object({ remainingSeconds: whole }),
  user,
});

type ParsedResponse =
  | { readonly ok: true; readonly response: UserInfoResponse }
  | { readonly ok: false; readonly problem: string };

/** Checks every documented field; further fields stay as they are. */
function parseUserInfoResponse(body: string): ParsedResponse {
  const value = parseJson(body);
  const problem = value === undefined ? 'it is not valid JSON' : response(value, '');
  if (problem !== undefined) return { ok: false, problem };
  return { ok: true, response: value as UserInfoResponse };
}

/** The texts of an error's body; none when it has another shape. */
function parseErrorBody(body: string): {
  readonly error?: string;
  readonly errorDescription?: string;
  readonly requestId?: string;
} {
  const value = parseJson(body);
  if (!isObject(value)) return {};
  const pick = (name: string) => (typeof value[name] === 'string' ? { [name]: value[name] } : {});
  return { ...pick('error'), ...pick('errorDescription'), ...pick('requestId') };
}

/** Undefined when it is invalid. */
function parseJson(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}
