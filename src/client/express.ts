import { createGuard, type DescriptorsOf, type RefusalOptions } from './refusal';
import type { RateLimiter } from './rate-limiter';

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
