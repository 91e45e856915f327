// The same functions for ES modules: one copy of them per process, however they are imported.
export { createRateLimiter, rateLimit, rateLimitFetch, RateLimiterError } from './index.js';
export type * from './index.js';
