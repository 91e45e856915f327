import type { Failure, FailureCode } from '../../core/errors';
import type { Answer } from '../../core/ports';
import { refusal, type Refusal } from './refusal';

/** The one place where failures become HTTP statuses. A hung store is a store that is down: 503 (behaviour.md §4.5). */
const STATUS_OF_FAILURE: Readonly<Record<FailureCode, number>> = {
  invalid_request: 400,
  no_rules: 503,
  store_unavailable: 503,
  store_timeout: 503,
  draining: 503,
  internal: 500,
};

export function toRefusal({ code, message }: Failure): Refusal {
  return refusal(STATUS_OF_FAILURE[code], code, message);
}

export function toHttpStatus(answer: Answer): number {
  if (answer.kind === 'failure') return STATUS_OF_FAILURE[answer.code];
  return answer.overallCode === 'OVER_LIMIT' ? 429 : 200;
}
