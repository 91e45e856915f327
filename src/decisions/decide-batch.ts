import { planBatch, type Plan, type PlanOptions } from '../core/planning/plan';
import { createWindowTable, type Windows } from '../core/planning/windows';
import { createReplyDraft, EMPTY_REPLY, finish, scatter } from '../core/batches/reply-draft';
import { planLocal } from '../core/decision/outage';
import { BatchStatsBuilder, type BatchStats } from '../core/decision/figures';
import { failure, StoreError, type FailureCode } from '../core/errors';
import type {
  Answer,
  BatchTrace,
  BatchTracer,
  Clock,
  CounterBatch,
  CounterReply,
  PendingRequest,
  Random,
  ReadyCounters,
} from '../core/ports';
import type { Rules } from '../core/rules/rules';
import { answerFor } from './answer';
import {
  createBatchContext,
  type AnswerOptions,
  type BatchContext,
  type Counted,
  leasedCounts,
} from './batch';
import { cancelsOf, withoutLeft } from './left-callers';
import { logDecisions, type DecisionLog } from './log-decisions';

export interface DecisionDeps {
  /** The current rules; undefined before the first load. */
  readonly rules: { readonly current: Rules | undefined };
  /** The message for callers until then; default: that no rules are loaded yet. */
  readonly whyNoRules?: { readonly current: string };
  readonly counters: Pick<ReadyCounters, 'add'>;
  /** Counts in this process for rules with `on_store_error: local`; without it those are errors. */
  readonly localCounters?: Pick<ReadyCounters, 'add'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Undefined: nothing is traced. */
  readonly tracer?: BatchTracer | undefined;
  /** Undefined: decisions are not logged. */
  readonly log?: DecisionLog | undefined;
  /** Called with the first store error of each batch that was not counted completely: clients do not get its reason. */
  readonly onStoreError?: (error: StoreError) => void;
  /** Called for an internal fault; the affected requests are answered `internal`. */
  readonly onFault: (error: unknown) => void;
}

export type DecisionOptions = PlanOptions & AnswerOptions;

/**
 * Answers every request of a batch, exactly once, and returns what statistics should count. Never rejects: every failure is an
 * answer. Rules, clock and store are read once per batch. Returns without a promise, with all requests answered, where the counters
 * replied without one.
 */
export type DecideBatch = (
  pendingRequests: readonly PendingRequest[],
) => BatchStats | Promise<BatchStats>;

/** A batch between its plan and its answers. */
interface Planned {
  readonly pendingRequests: readonly PendingRequest[];
  readonly rules: Rules;
  readonly plan: Plan;
  readonly windows: Windows;
  readonly nowSeconds: number;
  readonly trace: BatchTrace | undefined;
}

const NONE_YET = { current: 'no rules are loaded yet' };

export function createDecideBatch(deps: DecisionDeps, options: DecisionOptions): DecideBatch {
  const windowsAt = createWindowTable();
  const { log } = deps;
  const { whyNoRules = NONE_YET } = deps;
  const planOptions = { ...options, refusesNothing: options.shadowMode || options.quotaMode };

  /** Decides the requests whose callers are still waiting; for those that have left only reservations matter. */
  const decide: DecideBatch = (pendingRequests) => {
    const rules = deps.rules.current;
    const trace = deps.tracer?.begin(pendingRequests);
    if (rules === undefined) {
      return refuseAll(pendingRequests, 'no_rules', whyNoRules.current, trace);
    }
    const nowSeconds = deps.clock();
    const windows = windowsAt(nowSeconds);
    let planned: Planned;
    let reply: CounterReply | StoreError | Promise<CounterReply | StoreError>;
    try {
      const requests = pendingRequests.map((pending) => pending.request);
      const plan = planBatch(rules, requests, windows, planOptions, deps.random);
      trace?.matched(plan.increments.length);
      const { increments, groupEnds } = plan;
      planned = { pendingRequests, rules, plan, windows, nowSeconds, trace };
      reply = count(deps.counters, { increments, groupEnds, nowSeconds });
    } catch (error) {
      return refuseFaulty(error, pendingRequests, trace);
    }
    return reply instanceof Promise
      ? reply.then((settled) => judge(planned, settled))
      : judge(planned, reply);
  };

  const refuseFaulty = (
    error: unknown,
    pendingRequests: readonly PendingRequest[],
    trace: BatchTrace | undefined,
  ): BatchStats => {
    deps.onFault(error);
    return refuseAll(pendingRequests, 'internal', 'the decision failed, see the log', trace);
  };

  const judge = (
    planned: Planned,
    reply: CounterReply | StoreError,
  ): BatchStats | Promise<BatchStats> => {
    const { plan, nowSeconds, trace, pendingRequests } = planned;
    try {
      if (plan.increments.length > 0) trace?.counted(reply);
      if (isWhole(reply)) return answerAll(planned, { reply, outage: undefined });
    } catch (error) {
      return refuseFaulty(error, pendingRequests, trace);
    }
    return countLocally(reply, plan, nowSeconds, deps, options).then(
      (counted) => answerAll(planned, counted),
      (error: unknown) => refuseFaulty(error, pendingRequests, trace),
    );
  };

  const answerAll = (planned: Planned, counted: Counted): BatchStats | Promise<BatchStats> => {
    const { pendingRequests, rules, plan, windows, nowSeconds, trace } = planned;
    let batch: BatchContext;
    let answers: readonly Answer[];
    try {
      batch = createBatchContext(plan, counted, windows, options, log !== undefined);
      answers = answersOf(pendingRequests, batch);
    } catch (error) {
      return refuseFaulty(error, pendingRequests, trace);
    }
    const ending = endLeft(rules, pendingRequests, batch, nowSeconds);
    // Whatever fails from here on, each call has its answer.
    try {
      giveAnswers(pendingRequests, answers, batch.batchStats);
      trace?.answered(answers, leasedCounts(pendingRequests, batch));
      if (log !== undefined) logDecisions(log, nowSeconds, pendingRequests, answers, batch);
    } catch (error) {
      deps.onFault(error);
    }
    const { batchStats } = batch;
    return ending === undefined ? batchStats : ending.then(() => batchStats);
  };

  /** Closes what departed callers opened; undefined: nothing. What cannot be closed now expires with its lease. */
  const endLeft = (
    { hasBudgets }: Rules,
    pendingRequests: readonly PendingRequest[],
    batch: BatchContext,
    nowSeconds: number,
  ): Promise<unknown> | undefined => {
    const cancels = hasBudgets ? cancelsOf(pendingRequests, batch, nowSeconds) : undefined;
    return cancels && Promise.resolve(count(deps.counters, cancels));
  };

  const decideStaying: DecideBatch = async (asked) => {
    const { staying, left } = withoutLeft(asked);
    const batchStats = await decide(staying);
    return { ...batchStats, abandoned: batchStats.abandoned + left };
  };

  return (asked) =>
    deps.rules.current?.hasBudgets === true ? decideStaying(asked) : decide(asked);
}

function count(
  counters: Pick<ReadyCounters, 'add'>,
  batch: CounterBatch,
): CounterReply | StoreError | Promise<CounterReply | StoreError> {
  if (batch.increments.length === 0) return EMPTY_REPLY;
  try {
    const reply = counters.add(batch);
    return reply instanceof Promise ? reply.catch(toStoreError) : reply;
  } catch (error) {
    return toStoreError(error);
  }
}

function toStoreError(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const message = 'the counter store failed';
  return new StoreError('store_unavailable', message, { cause: error, forCaller: message });
}

function isWhole(reply: CounterReply | StoreError): reply is CounterReply {
  return !(reply instanceof StoreError) && reply.failures === undefined;
}

function firstError(reply: CounterReply | StoreError): StoreError {
  if (reply instanceof StoreError) return reply;
  return reply.failures?.values().next().value as StoreError;
}

/** Counts in this process what the store failed, for rules that ask for it. */
async function countLocally(
  reply: CounterReply | StoreError,
  plan: Plan,
  nowSeconds: number,
  { localCounters, onStoreError }: Pick<DecisionDeps, 'localCounters' | 'onStoreError'>,
  options: DecisionOptions,
): Promise<Counted> {
  onStoreError?.(firstError(reply));
  const errorOf = (increment: number): StoreError | undefined =>
    reply instanceof StoreError ? reply : reply.failures?.get(increment);
  const counts = reply instanceof StoreError ? EMPTY_REPLY : reply;
  const planned = planLocal(plan, errorOf, nowSeconds, options);
  if (planned === undefined || localCounters === undefined)
    return { reply: counts, outage: { errorOf, local: undefined } };
  const local = createReplyDraft(plan.increments.length);
  scatter(local, planned.places, await count(localCounters, planned));
  return { reply: counts, outage: { errorOf, local: finish(local) } };
}

const NOTHING_UNMET = { unknownDomains: [], unmatched: undefined };

function refuseAll(
  pendingRequests: readonly PendingRequest[],
  code: FailureCode,
  message: string,
  trace: BatchTrace | undefined,
): BatchStats {
  const batchStats = new BatchStatsBuilder(NOTHING_UNMET, pendingRequests.length);
  const refusal = failure(code, message);
  for (const { responder, callId } of pendingRequests) {
    batchStats.failed();
    responder.answer(callId, refusal);
  }
  trace?.answered(pendingRequests.map(() => refusal));
  return batchStats;
}

/** All answers are made before the first is given: a fault in between answers no request twice. */
function answersOf(
  pendingRequests: readonly PendingRequest[],
  batch: BatchContext,
): readonly Answer[] {
  const { plan, batchStats } = batch;
  const answers: Answer[] = [];
  let at = 0;
  for (let i = 0; i < pendingRequests.length; i++) {
    const pending = pendingRequests[i] as PendingRequest;
    const fault = plan.faults[i];
    if (fault !== undefined) {
      batchStats.failed();
      answers.push(failure('invalid_request', fault));
      continue;
    }
    const end = at + pending.request.descriptors.length;
    answers.push(answerFor(pending, batch, at, end));
    at = end;
  }
  return answers;
}

function giveAnswers(
  pendingRequests: readonly PendingRequest[],
  answers: readonly Answer[],
  batchStats: BatchStatsBuilder,
): void {
  for (let i = 0; i < pendingRequests.length; i++) {
    const { responder, callId } = pendingRequests[i] as PendingRequest;
    const answer = answers[i] as Answer;
    const isTaken = responder.answer(callId, answer);
    if (!isTaken && answer.kind === 'decision') batchStats.abandoned += 1;
  }
}
