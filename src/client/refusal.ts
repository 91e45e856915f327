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
export function createGuard<T>(
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
