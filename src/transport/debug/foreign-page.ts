import type { IncomingMessage } from 'node:http';
import { refuseForeign, type AdmissionOptions } from './admin/admit';

/** Pages that start work which continues for a while. */
const STARTING = /^\/debug\/pprof\/[^?]|^\/ui\/events/;

/**
 * Whether a page of another site makes this call. Links from such a page may be followed, for example to `/ui`, to pages that start
 * nothing.
 */
export function isForeign(request: IncomingMessage, admission: AdmissionOptions): boolean {
  const { headers, url = '' } = request;
  if (refuseForeign(headers, admission) === undefined) return false;
  const isLink =
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document' &&
    headers.origin === undefined;
  return !isLink || STARTING.test(url);
}
