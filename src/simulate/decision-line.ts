import { toDecisionRecord } from '../core/decision/decision-record';
import type { Secrets } from '../core/rules/secrets';
import type { LogRecord } from './log-record';
import type { Outcome } from './run-rules';

/** A line of the decision log for one outcome. */
export function toDecisionLine(
  { timeSeconds, request }: LogRecord,
  outcome: Outcome,
  secrets: Secrets | undefined,
): string {
  const { decision, rules } = outcome;
  const time = new Date(Math.round(timeSeconds * 1_000)).toISOString();
  let next = 0;
  const metrics = decision.statuses.map(({ currentLimit, limitRemaining }) => {
    const metALimit = currentLimit !== undefined || limitRemaining > 0;
    return metALimit ? rules[next++]?.metric : undefined;
  });
  return `${JSON.stringify(toDecisionRecord({ time, request, decision, metrics, secrets }))}\n`;
}
