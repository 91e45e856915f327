import { createGuard, type DescriptorsOf, type RefusalOptions } from './refusal';
import type { RateLimiter } from './rate-limiter';

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
