import type { ServerResponse } from 'node:http';
import type { Decision, Header, LimitFigures } from '../../../core/model';
import type { Check } from '../../../request-maps/check/check';

/** The rule that refused: its name, or its metric key where the check shows that. */
const LIMITED_BY = 'X-Weir-Limited-By';
const JSON_TYPE = 'application/json';
const DENIED = JSON.stringify({ error: 'a rate limit is exceeded', code: 'over_limit' });
const NO_HEADERS: readonly Header[] = [];

/** Lets the request proceed. */
export function allow(response: ServerResponse, headers = NO_HEADERS): void {
  response.writeHead(200, flatten(headers, ['Content-Length', '0']));
  response.end();
}

export function answerCheck(response: ServerResponse, check: Check, decision: Decision): void {
  const { overallCode, responseHeaders, rawBody = DENIED } = decision;
  if (overallCode === 'OK') {
    allow(response, responseHeaders);
    return;
  }
  const own = ['Content-Length', String(Buffer.byteLength(rawBody))];
  if (decision.rawBody === undefined) own.push('Content-Type', JSON_TYPE);
  const by = limitedBy(decision, check);
  if (by !== '') own.push(LIMITED_BY, by);
  response.writeHead(check.deniedStatus, flatten(responseHeaders, own));
  // Node omits the body by itself when the method was HEAD.
  response.end(rawBody);
}

export function answerQuota(response: ServerResponse, check: Check, decision: Decision): void {
  const { limits = [], responseHeaders } = decision;
  respondQuota(
    response,
    limits.map((limit) => toQuota(limit, check)),
    responseHeaders,
  );
}

export function respondQuota(
  response: ServerResponse,
  limits: readonly object[],
  headers = NO_HEADERS,
): void {
  const body = JSON.stringify({ limits });
  const own = ['Content-Length', String(Buffer.byteLength(body)), 'Content-Type', JSON_TYPE];
  response.writeHead(200, flatten(headers, [...own, 'Cache-Control', 'no-store']));
  response.end(body);
}

function toQuota(limit: LimitFigures, { showRule }: Check): object {
  const { name, metric, unit, remaining, resetSeconds, isOver } = limit;
  return {
    ...(name !== '' && { name }),
    ...(showRule && { rule: metric }),
    limit: limit.limit,
    unit,
    remaining: remaining ?? null,
    resetSeconds,
    limited: isOver || remaining === 0,
  };
}

function limitedBy({ limits = [] }: Decision, { showRule }: Check): string {
  const over = limits.filter(({ isOver }) => isOver);
  const by = over.find(({ isQuota }) => !isQuota) ?? over[0];
  const shown = showRule ? by?.metric : by?.name;
  return (shown ?? '').replace(/[^ -~]/gu, '_');
}

/** Alternates names and values, which Node writes without looking at each. */
function flatten(headers: readonly Header[], own: readonly string[]): string[] {
  const flat = [...own];
  for (const { key, value } of headers) flat.push(key, value);
  return flat;
}
