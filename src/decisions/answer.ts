import type { Ask, Plan } from '../core/counters/plan';
import type { Windows } from '../core/counters/windows';
import { limitHeaders, type HeaderNames } from '../core/decision/headers';
import { dynamicMetadata } from '../core/decision/metadata';
import {
  judgeInOutage,
  judgeUnknown,
  policyOf,
  type Outage,
  type OutageOptions,
} from '../core/decision/outage';
import { overallCode } from '../core/decision/overall';
import type { TallySheet } from '../core/decision/tally';
import {
  judge,
  judgeKnownOver,
  judgeUnlimited,
  NO_LIMIT,
  type JudgeOptions,
  type Verdict,
} from '../core/decision/verdict';
import { failure, type StoreError } from '../core/errors';
import type { Decision, DecisionRequest, DescriptorStatus, Header } from '../core/model';
import type { Answer } from '../core/ports';
import { hitsAfter, hitsBeside, noteFirst, type Counted } from './counted';

export interface AnswerOptions extends JudgeOptions, OutageOptions {
  /** SHADOW_MODE: the overall code is always OK. */
  readonly shadowMode: boolean;
  /** Undefined: no response headers. */
  readonly headers: HeaderNames | undefined;
  /** RESPONSE_DYNAMIC_METADATA. */
  readonly dynamicMetadata: boolean;
  /**
   * The store reads counts before it adds: the descriptors of one request do not see each other's hits
   * (memcached, as recorded). Those of an earlier request of the batch they do see.
   */
  readonly readFirst?: boolean;
}

const NO_HEADERS: readonly Header[] = [];

/** The answer to one request, whose asks are `plan.asks[start, end)`; its numbers go onto the tally. */
export function answerFor(
  request: DecisionRequest,
  plan: Plan,
  start: number,
  end: number,
  counted: Counted,
  windows: Windows,
  options: AnswerOptions,
  tally: TallySheet,
): Answer {
  const verdicts = judgeAll(plan, start, end, counted, windows, options);
  const error =
    counted.outage && errorFor(plan, start, end, counted.outage, verdicts, options, tally);
  if (error !== undefined) {
    for (let i = start; i < end; i++) tally.hitsOnly(plan.asks[i]);
    return failure(error.code, error.forCaller);
  }
  const statuses = new Array<DescriptorStatus>(end - start);
  for (let i = start; i < end; i++) {
    const ask = plan.asks[i];
    const verdict = verdicts[i - start];
    statuses[i - start] = verdict === undefined ? NO_LIMIT : verdict.status;
    if (ask !== undefined && verdict !== undefined) tallyAsk(ask, verdict, plan, tally);
  }
  return toDecision(request, verdicts, statuses, options, tally);
}

/** Why a request fails; undefined when the store failed nothing of it, or it has an answer all the same. */
function errorFor(
  plan: Plan,
  start: number,
  end: number,
  outage: Outage,
  verdicts: readonly (Verdict | undefined)[],
  options: AnswerOptions,
  tally: TallySheet,
): StoreError | undefined {
  const failed = failureAmong(plan, start, end, outage, options);
  if (failed === undefined) return undefined;
  const { first, final } = failed;
  const isAnswered = final === undefined || isKnownOver(verdicts, options);
  tally.storeFailed(final ?? first, isAnswered);
  return isAnswered ? undefined : final;
}

/**
 * OVER_LIMIT whatever the failed counters stand at: a caller that is over one limit must not get past it by making
 * another counter fail.
 */
function isKnownOver(
  verdicts: readonly (Verdict | undefined)[],
  { shadowMode, quotaMode }: AnswerOptions,
): boolean {
  return !shadowMode && overallCode(verdicts, quotaMode) === 'OVER_LIMIT';
}

/** What the store failed of one request. */
interface Failed {
  readonly first: StoreError;
  /** The first that no `on_store_error` answers. */
  readonly final: StoreError | undefined;
}

function failureAmong(
  plan: Plan,
  start: number,
  end: number,
  outage: Outage,
  options: AnswerOptions,
): Failed | undefined {
  let first: StoreError | undefined;
  for (let i = start; i < end; i++) {
    const ask = plan.asks[i];
    if (ask === undefined || ask.increment === -1) continue;
    const error = outage.errorOf(ask.increment);
    if (error === undefined) continue;
    first ??= error;
    const final = finalError(ask, error, outage, options);
    if (final !== undefined) return { first, final };
  }
  return first && { first, final: undefined };
}

/** Undefined when the rule has an answer all the same. */
function finalError(
  ask: Ask,
  error: StoreError,
  { local }: Outage,
  options: AnswerOptions,
): StoreError | undefined {
  const policy = policyOf(ask, error, options);
  if (policy === 'error') return error;
  if (policy !== 'local') return undefined;
  const count = local.get(ask.increment);
  return count === undefined ? error : count.error;
}

function judgeAll(
  plan: Plan,
  start: number,
  end: number,
  counted: Counted,
  windows: Windows,
  options: AnswerOptions,
): readonly (Verdict | undefined)[] {
  const { firstAsks } = counted;
  const verdicts = new Array<Verdict | undefined>(end - start);
  for (let i = start; i < end; i++) {
    const ask = plan.asks[i];
    if (ask === undefined) continue;
    if (firstAsks !== undefined) noteFirst(firstAsks, ask, i, start);
    verdicts[i - start] = judgeAsk(ask, plan, counted, windows, options);
  }
  return verdicts;
}

/** Askers that share an increment each see the counter as it stood after their own hits. */
function judgeAsk(
  ask: Ask,
  plan: Plan,
  { reply, outage, firstAsks }: Counted,
  windows: Windows,
  options: AnswerOptions,
): Verdict {
  const { increment } = ask;
  if (increment === -1) return judgeUnlimited(ask);
  const error = outage?.errorOf(increment);
  if (outage !== undefined && error !== undefined)
    return judgeFailed(ask, plan, error, outage, windows, options);
  if (reply.known?.[increment] === true) return judgeKnownOver(ask, windows, options);
  const total = reply.after[increment] as number;
  if (reply.held?.[increment] === true) return judge(ask, total, true, windows, options);
  const others = firstAsks === undefined ? hitsAfter(ask, plan) : hitsBeside(ask, plan, firstAsks);
  return judge(ask, total - others, false, windows, options);
}

function judgeFailed(
  ask: Ask,
  plan: Plan,
  error: StoreError,
  outage: Outage,
  windows: Windows,
  options: AnswerOptions,
): Verdict {
  if (finalError(ask, error, outage, options) !== undefined) return judgeUnknown(ask, options);
  const policy = policyOf(ask, error, options);
  const { after, isHeld } = outage.local.get(ask.increment) ?? { after: 0, isHeld: false };
  const own = isHeld ? after : after - hitsAfter(ask, plan);
  return judgeInOutage(ask, policy, own, isHeld, windows, options);
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
  verdicts: readonly (Verdict | undefined)[],
  statuses: readonly DescriptorStatus[],
  options: AnswerOptions,
  tally: TallySheet,
): Decision {
  let code = overallCode(verdicts, options.quotaMode);
  if (options.shadowMode && code === 'OVER_LIMIT') {
    code = 'OK';
    tally.globalShadowMode += 1;
  }
  return {
    kind: 'decision',
    overallCode: code,
    statuses,
    responseHeaders:
      options.headers === undefined ? NO_HEADERS : limitHeaders(verdicts, options.headers),
    dynamicMetadata: options.dynamicMetadata ? dynamicMetadata(request, verdicts) : undefined,
  };
}
