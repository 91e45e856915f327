import type { DescriptorHit, Plan } from '../core/planning/plan';
import {
  evaluateInOutage,
  evaluateUnknown,
  policyOf,
  withShare,
  type LocalCount,
} from '../core/decision/outage';
import { dynamicMetadata, limitHeaders, overallCode } from '../core/decision/response';
import type { BatchStatsSheet } from '../core/decision/batch-stats';
import {
  evaluate,
  evaluateKnownOver,
  evaluateOutcome,
  evaluateUnlimited,
  NO_LIMIT,
  type Verdict,
} from '../core/decision/verdict';
import { failure, type StoreError } from '../core/errors';
import { redactedRequest } from '../core/rules/secrets';
import type { Decision, DecisionRequest, DescriptorStatus, Header } from '../core/model';
import type { Answer } from '../core/ports';
import {
  hitsAfter,
  hitsBeside,
  noteFirst,
  outcomeOfHit,
  type AnswerOptions,
  type BatchContext,
  type Verdicts,
} from './batch';
import { withPolicies } from './with-policies';

const NO_HEADERS: readonly Header[] = [];
const NO_VERDICTS: Verdicts = [];
const NOT_COUNTED: LocalCount = { after: 0, isHeld: false, state: undefined, error: undefined };

/** The answer to one request, whose asks are `plan.asks[start, end)`; its numbers go onto the statistics. */
export function answerFor(
  request: DecisionRequest,
  batch: BatchContext,
  start: number,
  end: number,
): Answer {
  const { plan, outage, batchStats } = batch;
  const verdicts = evaluateAll(batch, start, end);
  const error = outage && errorFor(batch, start, end, verdicts);
  if (error !== undefined) {
    for (let i = start; i < end; i++) batchStats.hitsOnly(plan.descriptorHits[i]);
    batch.verdicts?.push(NO_VERDICTS);
    return failure(error.code, error.forCaller);
  }
  const statuses = new Array<DescriptorStatus>(end - start);
  for (let i = start; i < end; i++) {
    const hit = plan.descriptorHits[i];
    const verdict = verdicts[i - start];
    statuses[i - start] = verdict === undefined ? NO_LIMIT : verdict.status;
    if (hit !== undefined && verdict !== undefined) countHits(hit, verdict, plan, batchStats);
  }
  batch.verdicts?.push(verdicts);
  return toDecision(request, batch, start, verdicts, statuses);
}

/** Why a request fails; undefined when the store failed nothing of it, or it has an answer all the same. */
function errorFor(
  batch: BatchContext,
  start: number,
  end: number,
  verdicts: Verdicts,
): StoreError | undefined {
  const failed = failureAmong(batch, start, end);
  if (failed === undefined) return undefined;
  const { first, final } = failed;
  const isAnswered = final === undefined || isKnownOver(verdicts, batch.options);
  batch.batchStats.storeFailed(final ?? first, isAnswered);
  return isAnswered ? undefined : final;
}

/**
 * OVER_LIMIT whatever the failed counters stand at: a client that is over one limit must not get past it by making
 * another counter fail.
 */
function isKnownOver(verdicts: Verdicts, { shadowMode, quotaMode }: AnswerOptions): boolean {
  return !shadowMode && overallCode(verdicts, quotaMode) === 'OVER_LIMIT';
}

/** What the store failed of one request. */
interface Failed {
  readonly first: StoreError;
  /** The first that no `on_store_error` answers. */
  readonly final: StoreError | undefined;
}

function failureAmong(batch: BatchContext, start: number, end: number): Failed | undefined {
  let first: StoreError | undefined;
  for (let i = start; i < end; i++) {
    const hit = batch.plan.descriptorHits[i];
    if (hit === undefined || hit.increment === -1) continue;
    const error = batch.outage?.errorOf(hit.increment);
    if (error === undefined) continue;
    first ??= error;
    const final = finalError(hit, error, batch);
    if (final !== undefined) return { first, final };
  }
  return first && { first, final: undefined };
}

/** Undefined when the rule has an answer all the same. */
function finalError(
  hit: DescriptorHit,
  error: StoreError,
  { outage, options }: BatchContext,
): StoreError | undefined {
  const policy = policyOf(hit, error, options);
  if (policy === 'error') return error;
  if (policy !== 'local') return undefined;
  const count = outage?.local.get(hit.increment);
  return count === undefined ? error : count.error;
}

function evaluateAll(batch: BatchContext, start: number, end: number): Verdicts {
  const { plan, firstHits } = batch;
  const verdicts = new Array<Verdict | undefined>(end - start);
  for (let i = start; i < end; i++) {
    const hit = plan.descriptorHits[i];
    if (hit === undefined) continue;
    if (firstHits !== undefined) noteFirst(firstHits, hit, i, start);
    verdicts[i - start] = evaluateHit(hit, batch);
  }
  return verdicts;
}

/** Requests that share an increment each see the counter as it stood after their own hits. */
function evaluateHit(hit: DescriptorHit, batch: BatchContext): Verdict {
  const { reply, outage, windows, options, plan, firstHits } = batch;
  const { increment } = hit;
  if (increment === -1) return evaluateUnlimited(hit);
  const error = outage?.errorOf(increment);
  if (error !== undefined) return evaluateFailed(hit, error, batch);
  if (hit.limit.algorithm !== undefined) return evaluateState(hit, batch);
  if (reply.knownOverLimit?.[increment] === true) return evaluateKnownOver(hit, windows, options);
  const total = reply.after[increment] as number;
  if (reply.held?.[increment] === true) return evaluate(hit, total, true, windows, options);
  const others = firstHits === undefined ? hitsAfter(hit, plan) : hitsBeside(hit, plan, firstHits);
  return evaluate(hit, total - others, false, windows, options);
}

function evaluateState(
  hit: DescriptorHit,
  { reply, plan, windows, options }: BatchContext,
): Verdict {
  const { increment } = hit;
  const isHeld = reply.held?.[increment] === true;
  const outcome = outcomeOfHit(hit, reply.states?.[increment], isHeld, plan);
  const verdict = evaluateOutcome(hit, outcome, isHeld, windows, options);
  if (reply.knownOverLimit?.[increment] !== true) return verdict;
  return { ...verdict, overLimitWithLocalCache: verdict.overLimit };
}

function evaluateFailed(hit: DescriptorHit, error: StoreError, batch: BatchContext): Verdict {
  const { outage, plan, windows, options } = batch;
  if (finalError(hit, error, batch) !== undefined) return evaluateUnknown(hit, options);
  const policy = policyOf(hit, error, options);
  const { after, isHeld, state } = outage?.local.get(hit.increment) ?? NOT_COUNTED;
  if (policy === 'local' && hit.limit.algorithm !== undefined) {
    const shared = withShare(hit, options);
    const outcome = outcomeOfHit(shared, state, isHeld, plan);
    return evaluateOutcome(shared, outcome, isHeld, windows, options);
  }
  const own = { after: isHeld ? after : after - hitsAfter(hit, plan), isHeld };
  return evaluateInOutage(hit, policy, own, windows, options);
}

function countHits(
  hit: DescriptorHit,
  verdict: Verdict,
  { increments }: Plan,
  batchStats: BatchStatsSheet,
): void {
  if (verdict.status === NO_LIMIT) {
    batchStats.hitsOnly(hit);
    return;
  }
  batchStats.rules.push(verdict);
  const exact = increments[hit.increment]?.hits;
  if (typeof exact === 'bigint' && exact > 0) batchStats.lostDigits(hit, exact);
}

function toDecision(
  request: DecisionRequest,
  batch: BatchContext,
  start: number,
  verdicts: Verdicts,
  statuses: readonly DescriptorStatus[],
): Decision {
  const { plan, options, batchStats } = batch;
  let code = overallCode(verdicts, options.quotaMode);
  if (options.shadowMode && code === 'OVER_LIMIT') {
    code = 'OK';
    batchStats.globalShadowMode += 1;
  }
  const decision: Decision = {
    kind: 'decision',
    overallCode: code,
    statuses,
    responseHeaders:
      options.headers === undefined ? NO_HEADERS : limitHeaders(verdicts, options.headers),
    dynamicMetadata: options.dynamicMetadata
      ? dynamicMetadata(redactedRequest(plan.secrets, request), verdicts, code)
      : undefined,
  };
  return options.policies === undefined
    ? decision
    : withPolicies(decision, batch, verdicts, start, options.policies);
}
