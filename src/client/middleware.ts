import type { RateLimitDecision } from './decision';
import type { Descriptors } from './descriptors';
import { mistake } from './options';
import type { RateLimiter } from './rate-limiter';

/** The descriptors of a request; undefined or an empty list: it passes without a call. */
export type DescriptorsOf<T> = (
  request: T,
) => Descriptors | undefined | Promise<Descriptors | undefined>;

export interface RefusalOptions {
  /** HTTP status of a refusal, 400 to 599; 429 by default. Without a decision (`onError: 'deny'`) it is 503. */
  readonly status?: number;
}

/** The response to a refused client. */
interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The headers of another's response; the refusal otherwise. */
type Outcome =
  | { readonly allowed: true; readonly headers: Readonly<Record<string, string>> }
  | ({ readonly allowed: false } & Refusal);

const NO_DECISION = { error: 'no decision about this request', code: 'unavailable' };

/** Checks requests. Throws a TypeError; its result rejects with errors of `descriptorsOf` and the limiter. */
function createGuard<T>(
  limiter: Pick<RateLimiter, 'check'>,
  descriptorsOf: DescriptorsOf<T>,
  { status = 429 }: RefusalOptions,
): (request: T) => Promise<Outcome> {
  if (!Number.isInteger(status) || status < 400 || status > 599)
    throw mistake('status', status, 'a whole number from 400 to 599');
  return async (request) => {
    const descriptors = await descriptorsOf(request);
    if (descriptors === undefined || descriptors.length === 0)
      return { allowed: true, headers: {} };
    const decision = await limiter.check(descriptors);
    return decision.allowed
      ? { allowed: true, headers: decision.headers }
      : { allowed: false, ...toRefusal(decision, status) };
  };
}

function toRefusal({ headers, body, error }: RateLimitDecision, status: number): Refusal {
  // The service sends the content type with its own body.
  if (body !== undefined) return { status, headers, body };
  const seconds = headers['Retry-After'];
  const when = seconds === undefined ? '' : `, try again in ${seconds} s`;
  const own = { error: `too many requests${when}`, code: 'rate_limited' };
  return {
    status: error === undefined ? status : 503,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: `${JSON.stringify(error === undefined ? own : NO_DECISION)}\n`,
  };
}

/** The properties of every request of `node:http`; for Express name the type: `rateLimit<Request>(…)`, where it is not inferred. */
export interface LimitedRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The required part of a response of Express, or of `node:http`. */
export interface LimitedResponse {
  statusCode: number;
  readonly headersSent: boolean;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

export type ExpressMiddleware<T> = (
  request: T,
  response: LimitedResponse,
  next: (error?: unknown) => void,
) => Promise<void>;

/**
 * Middleware for Express 4 and 5: sets the headers of the decision, and ends refused requests with one line of JSON. Errors of
 * `descriptorsOf` and invalid descriptors go to `next`. Throws a TypeError for invalid options.
 */
export function rateLimit<T = LimitedRequest>(
  limiter: Pick<RateLimiter, 'check'>,
  descriptorsOf: DescriptorsOf<T>,
  options: RefusalOptions = {},
): ExpressMiddleware<T> {
  const guard = createGuard(limiter, descriptorsOf, options);
  return async (request, response, next) => {
    let outcome;
    try {
      outcome = await guard(request);
    } catch (error) {
      next(error);
      return;
    }
    // Another middleware, such as one for time-outs, has answered meanwhile.
    if (response.headersSent) return;
    for (const [name, value] of Object.entries(outcome.headers)) response.setHeader(name, value);
    if (outcome.allowed) {
      next();
      return;
    }
    response.statusCode = outcome.status;
    response.end(outcome.body);
  };
}

/**
 * For fetch handlers: resolves to the response for a refused request, and to undefined for one that may pass. Rejects with errors
 * of `descriptorsOf` and invalid descriptors. Throws a TypeError for invalid options.
 */
export function rateLimitFetch<T extends Request = Request>(
  limiter: Pick<RateLimiter, 'check'>,
  descriptorsOf: DescriptorsOf<T>,
  options: RefusalOptions = {},
): (request: T) => Promise<Response | undefined> {
  const guard = createGuard(limiter, descriptorsOf, options);
  return async (request) => {
    const outcome = await guard(request);
    if (outcome.allowed) return undefined;
    const { status, headers, body } = outcome;
    return new Response(body, { status, headers });
  };
}
