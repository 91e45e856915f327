import type { TableReading, Values } from '../platform/env-table/table';
import { boolean, headerName, oneOf, onOrOff, wholeNumber } from '../platform/env-table/parsers';
import { optional, setting } from './setting';

export const responseHeadersTable = {
  enabled: setting('LIMIT_RESPONSE_HEADERS_ENABLED', boolean, 'false', {
    doc: 'true adds the headers below to the answers',
  }),
  limit: setting('LIMIT_LIMIT_HEADER', headerName, 'RateLimit-Limit', {
    doc: 'header with the limit',
  }),
  remaining: setting('LIMIT_REMAINING_HEADER', headerName, 'RateLimit-Remaining', {
    doc: 'header with the requests that remain',
  }),
  reset: setting('LIMIT_RESET_HEADER', headerName, 'RateLimit-Reset', {
    doc: 'header with the seconds until the window ends',
  }),
  policies: setting('LIMIT_POLICY_HEADERS', oneOf('off', 'nearest', 'all'), 'off', {
    doc: 'adds RateLimit-Policy and RateLimit: of the limit with the least remaining, or of all (at most 8)',
  }),
  retryAfter: setting('LIMIT_RETRY_AFTER', onOrOff, 'off', {
    doc: 'on adds Retry-After to answers that are over a limit',
  }),
  jitterPercent: setting('LIMIT_RESET_JITTER', wholeNumber(0, 100), '0', {
    doc: 'most percent that is added to waits of more than a second in these headers; the same for the same counter',
  }),
  near: optional('LIMIT_NEAR_HEADER', headerName, 'unset', {
    doc: 'header that is 1 when an admitted request is near a limit (NEAR_LIMIT_RATIO)',
  }),
  body: setting('LIMIT_BODY', oneOf('off', 'problem', 'untyped-problem'), 'off', {
    doc: 'problem gives refused clients a body of the type application/problem+json, untyped-problem leaves it to Envoy to send the type (experimental)',
  }),
};

export type ResponseHeaderSettings = Values<typeof responseHeadersTable>;

type Key = keyof typeof responseHeadersTable;

/** A name that would occur twice in one answer is a problem. Equal names among the three of the reference stay allowed. */
export function toResponseHeaders({
  values,
  describe,
  problem,
}: TableReading<typeof responseHeadersTable>): ResponseHeaderSettings {
  const { enabled, policies, retryAfter, near, body } = values;
  const taken = new Map<string, string>();
  for (const key of ['limit', 'remaining', 'reset'] as const)
    if (enabled) taken.set(values[key].toLowerCase(), describe(key));
  const added: readonly (readonly [isSent: boolean, Key, name: string | undefined])[] = [
    [policies !== 'off', 'policies', 'RateLimit-Policy'],
    [policies !== 'off', 'policies', 'RateLimit'],
    [retryAfter, 'retryAfter', 'Retry-After'],
    [body !== 'off', 'body', 'Content-Type'],
    [true, 'near', near],
  ];
  for (const [isSent, key, name] of added) {
    if (!isSent || name === undefined) continue;
    const other = taken.get(name.toLowerCase());
    if (other !== undefined)
      problem(
        `${describe(key)} and ${other}: both send the header ${name}, expected another name for one of them`,
      );
    taken.set(name.toLowerCase(), describe(key));
  }
  return values;
}
