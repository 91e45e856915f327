import type { BudgetOutcome } from '../core/budgets/outcome';
import { type BatchStatsBuilder, budgetLines } from '../core/decision/figures';
import type { DescriptorHit, Plan } from '../core/planning/plan';
import { evaluateUnknown, policyOf, toLocal } from '../core/decision/outage';
import { dynamicMetadata, limitHeaders, overallCode } from '../core/decision/response';
import {
  evaluate,
  evaluateBudget,
  evaluateUncounted,
  evaluateUnlimited,
  knownOver,
  NO_LIMIT,
  type Verdict,
} from '../core/decision/verdict';
import { failure, type StoreError } from '../core/errors';
import { redactedRequest } from '../core/rules/secrets';
import type { Decision, DescriptorStatus, Header } from '../core/model';
import {
  readingOf,
  type Answer,
  type CounterReply,
  type Increment,
  type PendingRequest,
} from '../core/ports';
import {
  hitsAfter,
  hitsBeside,
  noteFirst,
  type AnswerOptions,
  type BatchContext,
  type Verdicts,
} from './batch';
import { withPolicies } from './policies';

const NO_HEADERS: readonly Header[] = [];
const NO_VERDICTS: Verdicts = [];

/** The answer to one request, whose hits are `plan.descriptorHits[start, end)`; its figures are added to the statistics. */
export function answerFor(
  pending: PendingRequest,
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
  return toDecision(pending, batch, start, verdicts, statuses);
}

/** Why a request fails; undefined when its counting succeeded, or a policy answers it. */
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

/** OVER_LIMIT, whatever the failed counters would say: a client that is over one limit must not pass by making another counter fail. */
function isKnownOver(verdicts: Verdicts, { shadowMode, quotaMode }: AnswerOptions): boolean {
  return !shadowMode && overallCode(verdicts, quotaMode) === 'OVER_LIMIT';
}

/** The failed increments of one request. */
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

/** Undefined when the rule's policy answers. */
function finalError(
  hit: DescriptorHit,
  error: StoreError,
  { outage, options }: BatchContext,
): StoreError | undefined {
  const policy = policyOf(hit, error, options);
  if (policy === 'error') return error;
  if (policy !== 'local') return undefined;
  const local = outage?.local;
  return local === undefined ? error : local.failures?.get(hit.increment);
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

function evaluateHit(hit: DescriptorHit, batch: BatchContext): Verdict {
  const { reply, outage } = batch;
  const { increment: index } = hit;
  if (index === -1) return evaluateUnlimited(hit);
  const error = outage?.errorOf(index);
  if (error !== undefined) return evaluateFailed(hit, error, batch);
  return reply.knownOverLimit?.[index] === true
    ? knownOver(evaluateKnown(hit, batch))
    : evaluateAnswered(hit, batch);
}

/** The local cache may know the counter's state, or only that it is over. */
function evaluateKnown(hit: DescriptorHit, batch: BatchContext): Verdict {
  const { reply, windows, options } = batch;
  return reply.states?.[hit.increment] === undefined
    ? evaluateUncounted(hit, true, windows, options)
    : evaluateAnswered(hit, batch);
}

/** Requests that share an increment are each judged by the counter after their own hits. */
function evaluateAnswered(hit: DescriptorHit, batch: BatchContext): Verdict {
  const { reply, plan, firstHits } = batch;
  const increment = plan.increments[hit.increment] as Increment;
  const later =
    firstHits === undefined ? hitsAfter(hit, increment) : hitsBeside(hit, plan, firstHits);
  return evaluateReply(hit, increment, reply, later, batch);
}

function evaluateReply(
  hit: DescriptorHit,
  increment: Increment,
  reply: CounterReply,
  later: number,
  { windows: { second }, options }: BatchContext,
): Verdict {
  const { limiter } = increment;
  const reading = readingOf(increment, reply, hit.increment);
  const isHeld = reply.held?.[hit.increment] === true;
  const outcome = isHeld
    ? limiter.kind.heldOutcome(increment, reading, hit.hits, second)
    : limiter.kind.outcome(increment, reading, hit.hits, later, second);
  return hit.limit.budget === undefined
    ? evaluate(hit, limiter, outcome, isHeld, options)
    : evaluateBudget(hit, outcome as BudgetOutcome, isHeld, options);
}

function evaluateFailed(hit: DescriptorHit, error: StoreError, batch: BatchContext): Verdict {
  const { outage, plan, windows, options } = batch;
  if (finalError(hit, error, batch) !== undefined) return evaluateUnknown(hit, options);
  const policy = policyOf(hit, error, options);
  const local = outage?.local;
  if (policy !== 'local' || local === undefined)
    return evaluateUncounted(hit, policy === 'deny', windows, options);
  const increment = toLocal(plan.increments[hit.increment] as Increment, options);
  return evaluateReply(hit, increment, local, hitsAfter(hit, increment), batch);
}

function countHits(
  hit: DescriptorHit,
  verdict: Verdict,
  { increments }: Plan,
  batchStats: BatchStatsBuilder,
): void {
  if (verdict.status === NO_LIMIT) {
    batchStats.hitsOnly(hit);
    return;
  }
  batchStats.rules.push(verdict);
  if (verdict.budget !== undefined) {
    const lines = budgetLines(hit, verdict.budget, increments[hit.increment]?.reservation);
    if (lines.length > 0) (batchStats.budgets ??= []).push(...lines);
  }
  const exact = increments[hit.increment]?.hits;
  if (typeof exact === 'bigint' && exact > 0) batchStats.lostDigits(hit, exact);
}

function toDecision(
  pending: PendingRequest,
  batch: BatchContext,
  start: number,
  verdicts: Verdicts,
  statuses: readonly DescriptorStatus[],
): Decision {
  const { plan, options, batchStats } = batch;
  const { request, policies = options.policies } = pending;
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
  return policies === undefined
    ? decision
    : withPolicies(decision, batch, verdicts, start, policies);
}
