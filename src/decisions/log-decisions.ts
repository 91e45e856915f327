import { decidingVerdict, limitOfList, overallCode } from '../core/decision/response';
import type { DecisionRecord } from '../core/decision/decision-record';
import type { Answer, PendingRequest } from '../core/ports';
import { type AnswerOptions, type BatchContext, type Verdicts, leasedHits } from './batch';

export interface DecisionLog {
  /** Whether to log a decision; `isRefused`: it was over a limit, also where shadow mode or another quota let it pass. */
  isWanted(isRefused: boolean): boolean;
  /** The record refers to the request: write it now. Must not throw. */
  write(record: DecisionRecord): void;
}

/** Offers the answered decisions of a batch to the log. Failures are left out. */
export function logDecisions(
  log: DecisionLog,
  nowSeconds: number,
  pendingRequests: readonly PendingRequest[],
  answers: readonly Answer[],
  batch: BatchContext,
): void {
  const { verdicts = [], plan, options } = batch;
  // Rounded down, so that it is within the windows that counted the request.
  const time = new Date(Math.floor(nowSeconds * 1_000)).toISOString();
  let next = 0;
  let end = 0;
  for (let i = 0; i < pendingRequests.length; i++) {
    if (plan.faults[i] !== undefined) continue;
    const own = verdicts[next++] as Verdicts;
    const { request, trace } = pendingRequests[i] as PendingRequest;
    const start = end;
    end += request.descriptors.length;
    const decision = answers[i] as Answer;
    if (decision.kind !== 'decision') continue;
    if (!log.isWanted(own.some(isOver))) continue;
    log.write({
      time,
      request,
      decision,
      metrics: own.map((verdict) => verdict?.metric),
      reservations: own.map((verdict) => verdict?.limit.reservation),
      limits: limitsOfLists(own),
      secrets: plan.secrets,
      isShadow: decision.overallCode === 'OK' && isShadow(own, options),
      isQuota: decision.overallCode === 'OVER_LIMIT' && isQuota(own),
      leased: leasedHits(batch, start, end),
      traceId: trace?.traceId(),
    });
  }
}

/** For each descriptor the limit of a list that its status reports; undefined: none has a list. */
function limitsOfLists(verdicts: Verdicts): readonly (string | undefined)[] | undefined {
  const limits = verdicts.map((verdict) => verdict && limitOfList(verdict));
  return limits.some((limit) => limit !== undefined) ? limits : undefined;
}

/** Over a limit, also in shadow mode. */
function isOver(verdict: Verdicts[number]): boolean {
  return (verdict?.overLimit ?? 0) > 0 || verdict?.status.code === 'OVER_LIMIT';
}

/** Whether shadow mode, of a rule or of the service, made the answer OK: a quota that is not over also lets others pass. */
function isShadow(verdicts: Verdicts, { shadowMode, quotaMode }: AnswerOptions): boolean {
  if (shadowMode && overallCode(verdicts, quotaMode) === 'OVER_LIMIT') return true;
  return verdicts.some((verdict) => verdict !== undefined && verdict.shadowMode > 0);
}

function isQuota(verdicts: Verdicts): boolean {
  return decidingVerdict(verdicts)?.enforcement === 'quota';
}
