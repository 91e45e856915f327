import type { RateLimitDecision } from './decision';
import type { Descriptors } from './descriptors';
import { mistake } from './options';
import type { RateLimiter } from './rate-limiter';

/** What a request asks about; undefined or an empty list: it passes, and no call is made. */
export type DescriptorsOf<T> = (
  request: T,
) => Descriptors | undefined | Promise<Descriptors | undefined>;

export interface RefusalOptions {
  /** HTTP status of a refusal, 400 to 599; 429 by default. One for want of a decision (`onError: 'deny'`) is 503. */
  readonly status?: number;
}

/** What a client gets that may not pass. */
interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The headers of a response that is not ours; the refusal otherwise. */
type Outcome =
  | { readonly allowed: true; readonly headers: Readonly<Record<string, string>> }
  | ({ readonly allowed: false } & Refusal);

const NO_DECISION = { error: 'no decision about this request', code: 'unavailable' };

/** Asks about requests. Throws a TypeError; what it returns rejects with what `descriptorsOf` and the limiter throw. */
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
  // The service names the content type beside its own body.
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
