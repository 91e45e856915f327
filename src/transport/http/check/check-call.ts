import type { ServerResponse } from 'node:http';
import type { Answer, Responder } from '../../../core/ports';
import type { Check } from '../../../request-maps/check/check';
import { refuse, toHttpStatus, toRefusal, type Refusal } from '../../responses';
import { allow, answerCheck, answerQuota, respondQuota } from './check-answers';
import type { CheckCounts } from './check-counts';

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
