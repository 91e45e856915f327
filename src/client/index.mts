// The same functions for ES modules: there is one copy of them in a process, whoever imports it how.
export { createRateLimiter, rateLimit, rateLimitFetch, RateLimiterError } from './index.js';
export type * from './index.js';
