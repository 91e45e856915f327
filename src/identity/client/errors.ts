/** Details of a failure; undefined where the service did not say. */
export interface IdentityErrorDetails {
  /** HTTP status; undefined when there was no answer. */
  readonly status?: number | undefined;
  /** The `error` of the answer: `invalid_token`, `rate_limited` … */
  readonly error?: string | undefined;
  readonly errorDescription?: string | undefined;
  /** For the operator of the service, who finds it in the log. */
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** Whatever can go wrong with a call. The token is in no message. */
export class IdentityError extends Error {
  override readonly name: string = 'IdentityError';
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly errorDescription: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;
  constructor(message: string, details: IdentityErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.status = details.status;
    this.error = details.error;
    this.errorDescription = details.errorDescription;
    this.requestId = details.requestId;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** The service answered 401: the token (or the API key) is not good. */
export class AuthenticationError extends IdentityError {
  override readonly name = 'AuthenticationError';
}

/** Why a call failed that did not fail with 401. */
export type APIErrorCode =
  /** Another status than 200 and 401. */
  | 'status'
  /** The service could not be reached, or the connection broke. */
  | 'network'
  | 'timeout'
  /** The caller's signal. */
  | 'aborted'
  /** The service pointed elsewhere; the token is not sent there. */
  | 'redirect'
  /** No UserInfoResponse, or one whose `meta.code` is not 200. */
  | 'bad_body'
  /** The token or the API key holds what no header may hold; nothing was sent. */
  | 'bad_credential';

/** Any other failure. */
export class APIError extends IdentityError {
  override readonly name = 'APIError';
  readonly code: APIErrorCode;
  constructor(code: APIErrorCode, message: string, details: IdentityErrorDetails = {}) {
    super(message, details);
    this.code = code;
  }
}
