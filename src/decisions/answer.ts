import type { Ask, Plan } from '../core/counters/plan';
import type { Windows } from '../core/counters/windows';
import { limitHeaders, type HeaderNames } from '../core/decision/headers';
import { dynamicMetadata } from '../core/decision/metadata';
import { overallCode } from '../core/decision/overall';
import type { TallySheet } from '../core/decision/tally';
import {
  judge,
  judgeUnlimited,
  NO_LIMIT,
  type JudgeOptions,
  type Verdict,
} from '../core/decision/verdict';
import { failure, StoreError, type Failure } from '../core/errors';
import type { Decision, DecisionRequest, DescriptorStatus, Header } from '../core/model';
import type { Answer, CounterReply } from '../core/ports';

export interface AnswerOptions extends JudgeOptions {
  /** SHADOW_MODE: the overall code is always OK. */
  readonly shadowMode: boolean;
  /** Undefined: no response headers. */
  readonly headers: HeaderNames | undefined;
  /** RESPONSE_DYNAMIC_METADATA. */
  readonly dynamicMetadata: boolean;
}

const NO_HEADERS: readonly Header[] = [];

/** The answer to one request, whose asks are `plan.asks[start, end)`; its numbers go onto the tally. */
export function answerFor(
  request: DecisionRequest,
  plan: Plan,
  start: number,
  end: number,
  reply: CounterReply | StoreError,
  windows: Windows,
  options: AnswerOptions,
  tally: TallySheet,
): Answer {
  const failed = failureAmong(plan, start, end, reply);
  if (failed !== undefined) {
    tally.failed(failed.code);
    for (let i = start; i < end; i++) tally.hitsOnly(plan.asks[i]);
    return failed;
  }
  const verdicts: (Verdict | undefined)[] = [];
  const statuses: DescriptorStatus[] = [];
  for (let i = start; i < end; i++) {
    const ask = plan.asks[i];
    const verdict =
      ask === undefined ? undefined : judgeAsk(ask, plan, reply as CounterReply, windows, options);
    verdicts.push(verdict);
    statuses.push(verdict === undefined ? NO_LIMIT : verdict.status);
    if (ask !== undefined && verdict !== undefined) tallyAsk(ask, verdict, plan, tally);
  }
  return toDecision(request, verdicts, statuses, options, tally);
}

/** A request fails when one of its counters did: its other descriptors cannot be told apart from it. */
function failureAmong(
  plan: Plan,
  start: number,
  end: number,
  reply: CounterReply | StoreError,
): Failure | undefined {
  if (!(reply instanceof StoreError) && reply.failures === undefined) return undefined;
  for (let i = start; i < end; i++) {
    const increment = plan.asks[i]?.increment ?? -1;
    if (increment === -1) continue;
    const error = reply instanceof StoreError ? reply : reply.failures?.get(increment);
    if (error !== undefined) return failure(error.code, error.message);
  }
  return undefined;
}

/** Askers that share an increment each see the counter as it stood after their own hits. */
function judgeAsk(
  ask: Ask,
  { increments }: Plan,
  { after, held }: CounterReply,
  windows: Windows,
  options: AnswerOptions,
): Verdict {
  const { increment, hitsUpTo } = ask;
  if (increment === -1) return judgeUnlimited(ask);
  const total = after[increment] as number;
  if (held?.[increment] === true) return judge(ask, total, true, windows, options);
  const hitsBehind = Number(increments[increment]?.hits) - hitsUpTo;
  return judge(ask, total - hitsBehind, false, windows, options);
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
