import { STATUS_CODES } from 'node:http';

/** The listener answers these itself: no Host or no HTTP, CONNECT, too slow, too long headers, no room. */
export type RejectStatus = 400 | 405 | 408 | 431 | 503;

/** A port's answer where its handler is not called. */
export type Reject = (status: RejectStatus) => {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** The mistake in words: the same on every port. */
export function describeRejection(status: RejectStatus): string {
  if (status === 503) return 'the connections to this service hold too many bytes, try again later';
  const expected = 'expected a complete HTTP/1.1 request within the limits on time and size';
  return `${(STATUS_CODES[status] ?? '').toLowerCase()}: ${expected}`;
}

/** In the form of the other refusals of `POST /json`. */
export const rejectInJson: Reject = (status) => ({
  headers: {
    'Content-Type': 'application/json',
    ...(status === 405 && { Allow: '' }),
    ...(status === 503 && { 'Retry-After': '1' }),
  },
  body: JSON.stringify({
    error: describeRejection(status),
    ...(status === 503 && { code: 'overloaded' }),
  }),
});
