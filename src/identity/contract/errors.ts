import type { Meta } from './user-info';

/** Every `error` of the service, and its HTTP status. Stable. */
export const STATUS_OF_ERROR = {
  invalid_request: 400,
  unauthorized: 401,
  invalid_token: 401,
  invalid_api_key: 401,
  not_found: 404,
  method_not_allowed: 405,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof STATUS_OF_ERROR;

/** The body of every answer other than 200. */
export interface ErrorResponse {
  readonly meta: Meta;
  readonly error: ErrorCode;
  readonly errorDescription: string;
  readonly requestId: string;
}
