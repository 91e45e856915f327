/** Why there is no decision. */
export type RateLimiterErrorCode =
  /** No answer within the deadline, or the service had none from its counter store. */
  | 'timeout'
  /** The service cannot be reached, or the connection broke. */
  | 'unavailable'
  /** The service does not take such a request: one that is too large, or values that it refuses. */
  | 'invalid_request'
  /** The service answered with another error, such as that of its counter store. */
  | 'failed'
  /** The answer holds no decision. */
  | 'bad_answer'
  /** A thousand calls wait for an answer already, or 100,000 to be settled; this one was not sent. */
  | 'too_many_calls'
  /** The limiter is closed. */
  | 'closed';

/** There is no decision. No key and no value of a descriptor is in its message. */
export class RateLimiterError extends Error {
  override readonly name = 'RateLimiterError';
  readonly code: RateLimiterErrorCode;
  constructor(code: RateLimiterErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}
