/** Why there is no decision. */
export type RateLimiterErrorCode =
  /** No answer within the deadline, or the service had none from its counter store. */
  | 'timeout'
  /** The service cannot be reached, or the connection broke. */
  | 'unavailable'
  /** The service refuses such a request: too large, or with invalid values. */
  | 'invalid_request'
  /** The service answered with another error, such as that of its counter store. */
  | 'failed'
  /** The answer contains no decision. */
  | 'bad_answer'
  /** A thousand calls are in flight already, or 100,000 settles are queued; this one was not sent. */
  | 'too_many_calls'
  /** The limiter is closed. */
  | 'closed';

/** There is no decision. Its message contains no key and no value of a descriptor. */
export class RateLimiterError extends Error {
  override readonly name = 'RateLimiterError';
  readonly code: RateLimiterErrorCode;
  constructor(code: RateLimiterErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}
