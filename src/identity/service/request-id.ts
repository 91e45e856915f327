import type { IncomingMessage } from 'node:http';

/** Too short for a token, so that none comes back in an answer or a log by mistake. */
const GOOD = /^[A-Za-z0-9._:@-]{1,64}$/;

/** The caller's X-Request-Id when it is a plain one, else a new one. */
export function requestIdOf(request: IncomingMessage, createId: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && GOOD.test(given) ? given : createId();
}
