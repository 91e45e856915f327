import type { Ask, Plan } from '../core/planning/plan';
import {
  evaluateInOutage,
  evaluateUnknown,
  policyOf,
  withShare,
  type LocalCount,
} from '../core/decision/outage';
import { dynamicMetadata, limitHeaders, overallCode } from '../core/decision/response';
import type { TallySheet } from '../core/decision/tally';
import {
  evaluate,
  evaluateKnownOver,
  evaluateOutcome,
  evaluateUnlimited,
  NO_LIMIT,
  type Verdict,
} from '../core/decision/verdict';
import { failure, type StoreError } from '../core/errors';
import type { Decision, DecisionRequest, DescriptorStatus, Header } from '../core/model';
import type { Answer } from '../core/ports';
import {
  hitsAfter,
  hitsBeside,
  noteFirst,
  outcomeOfAsk,
  type AnswerOptions,
  type BatchContext,
  type Verdicts,
} from './batch';
import { withPolicies } from './with-policies';

const NO_HEADERS: readonly Header[] = [];
const NO_VERDICTS: Verdicts = [];
const NOT_COUNTED: LocalCount = { after: 0, isHeld: false, standing: undefined, error: undefined };

/** The answer to one request, whose asks are `plan.asks[start, end)`; its numbers go onto the tally. */
export function answerFor(
  request: DecisionRequest,
  batch: BatchContext,
  start: number,
  end: number,
): Answer {
  const { plan, outage, tally } = batch;
  const verdicts = evaluateAll(batch, start, end);
  const error = outage && errorFor(batch, start, end, verdicts);
  if (error !== undefined) {
    for (let i = start; i < end; i++) tally.hitsOnly(plan.asks[i]);
    batch.verdicts?.push(NO_VERDICTS);
    return failure(error.code, error.forCaller);
  }
  const statuses = new Array<DescriptorStatus>(end - start);
  for (let i = start; i < end; i++) {
    const ask = plan.asks[i];
    const verdict = verdicts[i - start];
    statuses[i - start] = verdict === undefined ? NO_LIMIT : verdict.status;
    if (ask !== undefined && verdict !== undefined) tallyAsk(ask, verdict, plan, tally);
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
  batch.tally.storeFailed(final ?? first, isAnswered);
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
    const ask = batch.plan.asks[i];
    if (ask === undefined || ask.increment === -1) continue;
    const error = batch.outage?.errorOf(ask.increment);
    if (error === undefined) continue;
    first ??= error;
    const final = finalError(ask, error, batch);
    if (final !== undefined) return { first, final };
  }
  return first && { first, final: undefined };
}

/** Undefined when the rule has an answer all the same. */
function finalError(
  ask: Ask,
  error: StoreError,
  { outage, options }: BatchContext,
): StoreError | undefined {
  const policy = policyOf(ask, error, options);
  if (policy === 'error') return error;
  if (policy !== 'local') return undefined;
  const count = outage?.local.get(ask.increment);
  return count === undefined ? error : count.error;
}

function evaluateAll(batch: BatchContext, start: number, end: number): Verdicts {
  const { plan, firstAsks } = batch;
  const verdicts = new Array<Verdict | undefined>(end - start);
  for (let i = start; i < end; i++) {
    const ask = plan.asks[i];
    if (ask === undefined) continue;
    if (firstAsks !== undefined) noteFirst(firstAsks, ask, i, start);
    verdicts[i - start] = evaluateAsk(ask, batch);
  }
  return verdicts;
}

/** Requests that share an increment each see the counter as it stood after their own hits. */
function evaluateAsk(ask: Ask, batch: BatchContext): Verdict {
  const { reply, outage, windows, options, plan, firstAsks } = batch;
  const { increment } = ask;
  if (increment === -1) return evaluateUnlimited(ask);
  const error = outage?.errorOf(increment);
  if (error !== undefined) return evaluateFailed(ask, error, batch);
  if (ask.limit.algorithm !== undefined) return evaluateStanding(ask, batch);
  if (reply.known?.[increment] === true) return evaluateKnownOver(ask, windows, options);
  const total = reply.after[increment] as number;
  if (reply.held?.[increment] === true) return evaluate(ask, total, true, windows, options);
  const others = firstAsks === undefined ? hitsAfter(ask, plan) : hitsBeside(ask, plan, firstAsks);
  return evaluate(ask, total - others, false, windows, options);
}

function evaluateStanding(ask: Ask, { reply, plan, windows, options }: BatchContext): Verdict {
  const { increment } = ask;
  const isHeld = reply.held?.[increment] === true;
  const outcome = outcomeOfAsk(ask, reply.standings?.[increment], isHeld, plan);
  const verdict = evaluateOutcome(ask, outcome, isHeld, windows, options);
  if (reply.known?.[increment] !== true) return verdict;
  return { ...verdict, overLimitWithLocalCache: verdict.overLimit };
}

function evaluateFailed(ask: Ask, error: StoreError, batch: BatchContext): Verdict {
  const { outage, plan, windows, options } = batch;
  if (finalError(ask, error, batch) !== undefined) return evaluateUnknown(ask, options);
  const policy = policyOf(ask, error, options);
  const { after, isHeld, standing } = outage?.local.get(ask.increment) ?? NOT_COUNTED;
  if (policy === 'local' && ask.limit.algorithm !== undefined) {
    const shared = withShare(ask, options);
    const outcome = outcomeOfAsk(shared, standing, isHeld, plan);
    return evaluateOutcome(shared, outcome, isHeld, windows, options);
  }
  const own = { after: isHeld ? after : after - hitsAfter(ask, plan), isHeld };
  return evaluateInOutage(ask, policy, own, windows, options);
}

function tallyAsk(ask: Ask, verdict: Verdict, { increments }: Plan, tally: TallySheet): void {
  if (verdict.status === NO_LIMIT) {
    tally.hitsOnly(ask);
    return;
  }
  tally.rules.push(verdict);
  const exact = increments[ask.increment]?.hits;
  if (typeof exact === 'bigint' && exact > 0) tally.lostDigits(ask, exact);
}

function toDecision(
  request: DecisionRequest,
  batch: BatchContext,
  start: number,
  verdicts: Verdicts,
  statuses: readonly DescriptorStatus[],
): Decision {
  const { options, tally } = batch;
  let code = overallCode(verdicts, options.quotaMode);
  if (options.shadowMode && code === 'OVER_LIMIT') {
    code = 'OK';
    tally.globalShadowMode += 1;
  }
  const decision: Decision = {
    kind: 'decision',
    overallCode: code,
    statuses,
    responseHeaders:
      options.headers === undefined ? NO_HEADERS : limitHeaders(verdicts, options.headers),
    dynamicMetadata: options.dynamicMetadata ? dynamicMetadata(request, verdicts, code) : undefined,
  };
  return options.policies === undefined
    ? decision
    : withPolicies(decision, batch, verdicts, start, options.policies);
}
