export {
  createRateLimiter,
  type RateLimitCallOptions,
  type RateLimitCheckOptions,
  type RateLimiter,
  type RateLimiterStats,
  type Settlement,
} from './rate-limiter';
export { type ErrorPolicy, type RateLimiterOptions, type RateLimiterTls } from './options';
export { type DescriptorPairs, type Descriptors } from './descriptors';
export { type RateLimitDecision, type LimitStatus, type LimitUnit } from './decision';
export { RateLimiterError, type RateLimiterErrorCode } from './errors';
export {
  rateLimit,
  type ExpressMiddleware,
  type LimitedRequest,
  type LimitedResponse,
} from './middleware';
export { rateLimitFetch } from './middleware';
export { type DescriptorsOf, type RefusalOptions } from './middleware';
