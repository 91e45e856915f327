import { decidingVerdict } from '../core/decision/response';
import type { DecisionRecord } from '../core/decision/decision-record';
import type { Answer, PendingRequest } from '../core/ports';
import type { BatchContext, Verdicts } from './batch';

/** Takes decisions for the decision log. */
export interface DecisionLog {
  /** Whether a decision is to be logged; `isRefused`: it was over a limit, also where shadow mode let it pass. */
  isWanted(isRefused: boolean): boolean;
  /** The record refers to the request: write it now. Must not throw. */
  write(record: DecisionRecord): void;
}

/** Offers the decisions of a batch, which are answered already, to the log. Failures are left out. */
export function logDecisions(
  log: DecisionLog,
  nowSeconds: number,
  pendingRequests: readonly PendingRequest[],
  answers: readonly Answer[],
  { verdicts = [], plan }: BatchContext,
): void {
  // Rounded down, so that it lies in the windows that were counted in.
  const time = new Date(Math.floor(nowSeconds * 1_000)).toISOString();
  let next = 0;
  for (let i = 0; i < pendingRequests.length; i++) {
    if (plan.faults[i] !== undefined) continue;
    const own = verdicts[next++] as Verdicts;
    const decision = answers[i] as Answer;
    if (decision.kind !== 'decision') continue;
    const isShadow = decision.overallCode === 'OK' && own.some(isOver);
    if (!log.isWanted(isShadow || decision.overallCode === 'OVER_LIMIT')) continue;
    const { request, trace } = pendingRequests[i] as PendingRequest;
    log.write({
      time,
      request,
      decision,
      metrics: own.map((verdict) => verdict?.metric),
      secrets: plan.secrets,
      isShadow,
      isQuota: decision.overallCode === 'OVER_LIMIT' && isQuota(own),
      traceId: trace?.traceId(),
    });
  }
}

/** Over a limit, also in shadow mode. */
function isOver(verdict: Verdicts[number]): boolean {
  return (verdict?.overLimit ?? 0) > 0 || verdict?.status.code === 'OVER_LIMIT';
}

function isQuota(verdicts: Verdicts): boolean {
  return decidingVerdict(verdicts)?.enforcement === 'quota';
}
