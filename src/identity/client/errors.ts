/** Details of a failure; undefined where the service sent none. */
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

/** Any failure of a call. Its message does not contain the token. */
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

/** The service answered 401: the token (or the API key) is not valid. */
export class AuthenticationError extends IdentityError {
  override readonly name = 'AuthenticationError';
}

/** Why a call failed, other than with 401. */
export type APIErrorCode =
  /** Another status than 200 and 401. */
  | 'status'
  /** The service could not be reached, or the connection broke. */
  | 'network'
  | 'timeout'
  /** The caller's signal. */
  | 'aborted'
  /** The service redirected; the token is not sent there. */
  | 'redirect'
  /** Not a UserInfoResponse, or one whose `meta.code` is not 200. */
  | 'bad_body'
  /** The token or the API key contains characters that a header may not have; nothing was sent. */
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
