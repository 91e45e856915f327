import { STATUS_CODES } from 'node:http';
import { describeRejection, type Reject, type RejectStatus } from '../../platform/http-rejection';
import type { ErrorCode } from '../contract/errors';
import { errorAnswer } from './answers';

const CODES: Readonly<Record<RejectStatus, ErrorCode>> = {
  400: 'invalid_request',
  405: 'method_not_allowed',
  408: 'invalid_request',
  431: 'invalid_request',
  503: 'unavailable',
};

/** What the listener answers by itself, in the envelope of all answers. */
export function createReject(createRequestId: () => string): Reject {
  return (status) => {
    const requestId = createRequestId();
    const { headers, body } = errorAnswer(CODES[status], requestId);
    const { Allow, 'Retry-After': retryAfter } = headers;
    return {
      headers: {
        ...(Allow !== undefined && { Allow }),
        ...(retryAfter !== undefined && { 'Retry-After': retryAfter }),
        'Content-Type': 'application/json; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        'X-Request-Id': requestId,
      },
      body: JSON.stringify({
        ...(JSON.parse(body) as object),
        errorDescription: describeRejection(status),
        meta: { code: status, message: STATUS_CODES[status] },
      }),
    };
  };
}
