import type { ServerResponse } from 'node:http';
import type { Answer, Responder, Statistics } from '../../../core/ports';
import type { Check } from '../../../request-maps/check';
import { refuse, toHttpStatus, toRefusal, type Refusal } from '../../responses';
import type { Decision, Header, LimitFigures } from '../../../core/model';

/** The question: whether a request may proceed, or what is left, which charges nothing. */
export type CheckQuestion = 'check' | 'quota';

export interface AskedCheck {
  readonly check: Check;
  /** Empty for the file of CHECK_CONFIG. */
  readonly name: string;
  readonly question: CheckQuestion;
}

/** One call that waits for its decision. */
export class CheckCall implements Responder {
  readonly #response: ServerResponse;
  readonly #check: Check;
  readonly #question: CheckQuestion;
  readonly #counts: CheckCounts;

  constructor(response: ServerResponse, { check, question }: AskedCheck, counts: CheckCounts) {
    this.#response = response;
    this.#check = check;
    this.#question = question;
    this.#counts = counts;
  }

  hasLeft(): boolean {
    return this.#response.req.socket.destroyed;
  }

  answer(_callId: number, answer: Answer): boolean {
    const isThere = !this.hasLeft();
    if (answer.kind === 'failure') this.fail(toRefusal(answer));
    else if (this.#question === 'quota') {
      this.#counts.count('quota');
      if (isThere) answerQuota(this.#response, this.#check, answer);
    } else {
      this.#counts.count(answer.overallCode === 'OK' ? 'allowed' : 'denied');
      if (isThere) answerCheck(this.#response, this.#check, answer);
    }
    return isThere;
  }

  /** The map made no descriptor from it: no limit applies. */
  pass(): void {
    this.#counts.count('without_descriptor');
    if (this.#question === 'quota') respondQuota(this.#response, []);
    else allow(this.#response);
  }

  /** The call is invalid. */
  refuse(reason: Refusal): void {
    this.#counts.count('malformed');
    refuse(this.#response, reason);
  }

  /** There is no decision: `on_error` decides, unless the call itself is invalid. */
  fail(reason: Refusal): void {
    const isMalformed = reason.status === MALFORMED;
    this.#counts.count(isMalformed ? 'malformed' : 'undecided');
    const { onError, deniedStatus } = this.#check;
    if (isMalformed || this.#question === 'quota') refuse(this.#response, reason);
    else if (onError === 'allow') allow(this.#response);
    else refuse(this.#response, { ...reason, status: deniedStatus });
  }
}

const MALFORMED = 400;

export function statusOf(
  answer: Answer,
  { onError, deniedStatus }: Check,
  question: CheckQuestion,
) {
  const status = toHttpStatus(answer);
  if (status === 200 || status === MALFORMED || question === 'quota') {
    return answer.kind === 'decision' && question === 'quota' ? 200 : status;
  }
  return answer.kind === 'failure' && onError === 'allow' ? 200 : deniedStatus;
}

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

function answerCheck(response: ServerResponse, check: Check, decision: Decision): void {
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

function answerQuota(response: ServerResponse, check: Check, decision: Decision): void {
  const { limits = [], responseHeaders } = decision;
  respondQuota(
    response,
    limits.map((limit) => toQuota(limit, check)),
    responseHeaders,
  );
}

function respondQuota(
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

const OUTCOMES = [
  'allowed',
  'denied',
  'undecided',
  'without_descriptor',
  'malformed',
  'untrusted',
  'quota',
] as const;

/** The outcomes of a call (docs/proxies/README.md, statistics). */
type CallOutcome = (typeof OUTCOMES)[number];

/** Counts the outcomes of calls, and reports them to the statistics once per turn. */
export class CheckCounts {
  readonly #statistics: Pick<Statistics, 'count'>;
  readonly #counts = new Map<CallOutcome, number>();

  constructor(statistics: Pick<Statistics, 'count'>) {
    this.#statistics = statistics;
    for (const outcome of OUTCOMES) statistics.count(nameOf(outcome), 0);
  }

  count(outcome: CallOutcome): void {
    if (this.#counts.size === 0) setImmediate(this.#flush);
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  readonly #flush = (): void => {
    for (const [outcome, times] of this.#counts) this.#statistics.count(nameOf(outcome), times);
    this.#counts.clear();
  };
}

function nameOf(outcome: CallOutcome): string {
  return `ratelimit.check.${outcome}`;
}
