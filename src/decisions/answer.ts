import type { Ask, Plan } from '../core/counters/plan';
import type { Windows } from '../core/counters/windows';
import { limitHeaders, type HeaderNames } from '../core/decision/headers';
import { dynamicMetadata } from '../core/decision/metadata';
import { judgeInOutage, policyOf, type Outage, type OutageOptions } from '../core/decision/outage';
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
import { failure, type Failure, type StoreError } from '../core/errors';
import type { Decision, DecisionRequest, DescriptorStatus, Header } from '../core/model';
import type { Answer, CounterReply } from '../core/ports';

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

/** What the counters say of a batch; `outage` is undefined when the store counted all of it. */
export interface Counted {
  readonly reply: CounterReply;
  readonly outage: Outage | undefined;
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
  const failed = failureAmong(plan, start, end, counted, options, tally);
  if (failed !== undefined) {
    for (let i = start; i < end; i++) tally.hitsOnly(plan.asks[i]);
    return failed;
  }
  const verdicts = new Array<Verdict | undefined>(end - start);
  const statuses = new Array<DescriptorStatus>(end - start);
  for (let i = start; i < end; i++) {
    const ask = plan.asks[i];
    const verdict =
      ask === undefined ? undefined : judgeAsk(ask, plan, start, counted, windows, options);
    verdicts[i - start] = verdict;
    statuses[i - start] = verdict === undefined ? NO_LIMIT : verdict.status;
    if (ask !== undefined && verdict !== undefined) tallyAsk(ask, verdict, plan, tally);
  }
  return toDecision(request, verdicts, statuses, options, tally);
}

/**
 * A request fails when one of its counters did and the rule's `on_store_error` gives no other answer:
 * its other descriptors cannot be told apart from it.
 */
function failureAmong(
  plan: Plan,
  start: number,
  end: number,
  { outage }: Counted,
  options: AnswerOptions,
  tally: TallySheet,
): Failure | undefined {
  if (outage === undefined) return undefined;
  let first: StoreError | undefined;
  for (let i = start; i < end; i++) {
    const ask = plan.asks[i];
    const error = ask === undefined ? undefined : outage.errorOf(ask.increment);
    if (ask === undefined || error === undefined || ask.increment === -1) continue;
    first ??= error;
    const final = finalError(ask, error, outage, options);
    if (final === undefined) continue;
    tally.storeFailed(error, false);
    return failure(final.code, final.message);
  }
  if (first !== undefined) tally.storeFailed(first, true);
  return undefined;
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

/** Askers that share an increment each see the counter as it stood after their own hits. */
function judgeAsk(
  ask: Ask,
  plan: Plan,
  start: number,
  { reply, outage }: Counted,
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
  const behind = options.readFirst === true ? behindRead(ask, plan, start) : behindOwn(ask, plan);
  return judge(ask, total - behind, false, windows, options);
}

function judgeFailed(
  ask: Ask,
  plan: Plan,
  error: StoreError,
  { local }: Outage,
  windows: Windows,
  options: AnswerOptions,
): Verdict {
  const policy = policyOf(ask, error, options);
  const { after, isHeld } = local.get(ask.increment) ?? { after: 0, isHeld: false };
  const own = isHeld ? after : after - behindOwn(ask, plan);
  return judgeInOutage(ask, policy, own, isHeld, windows, options);
}

/** The hits of an ask's increment that came after its own. */
function behindOwn({ increment, hitsUpTo }: Ask, { increments }: Plan): number {
  return Number(increments[increment]?.hits) - hitsUpTo;
}

/** All hits of its increment but its own and those of the requests before. */
function behindRead(ask: Ask, plan: Plan, start: number): number {
  let first = start;
  while (plan.asks[first]?.increment !== ask.increment) first += 1;
  const { hits, hitsUpTo } = plan.asks[first] as Ask;
  const earlier = hitsUpTo - hits;
  return Number(plan.increments[ask.increment]?.hits) - earlier - ask.hits;
}

function tallyAsk(ask: Ask, verdict: Verdict, { increments }: Plan, tally: TallySheet): void {
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
