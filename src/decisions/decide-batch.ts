import { planBatch, type Plan, type PlanOptions } from '../core/planning/plan';
import { createWindowTable } from '../core/planning/windows';
import { planLocal, toLocalCounts } from '../core/decision/outage';
import { BatchStatsSheet, type BatchStats } from '../core/decision/batch-stats';
import { failure, StoreError, type FailureCode } from '../core/errors';
import type {
  Answer,
  BatchTrace,
  BatchTracer,
  Clock,
  CounterReply,
  Counters,
  PendingRequest,
  Random,
} from '../core/ports';
import type { Rules } from '../core/rules/rules';
import { answerFor } from './answer';
import { createBatchContext, type AnswerOptions, type BatchContext, type Counted } from './batch';
import { logDecisions, type DecisionLog } from './log-decisions';

export interface DecisionDeps {
  /** The rules of the moment; undefined before the first were loaded. */
  readonly rules: { readonly current: Rules | undefined };
  /** What callers read meanwhile; default: that there are none yet. */
  readonly whyNoRules?: { readonly current: string };
  readonly counters: Pick<Counters, 'add'>;
  /** Counts in this process for rules whose `on_store_error` is `local`; without them those are errors. */
  readonly localCounters?: Pick<Counters, 'add'>;
  readonly clock: Clock;
  readonly random: Random;
  /** Undefined: nothing is traced. */
  readonly tracer?: BatchTracer | undefined;
  /** Undefined: decisions are not logged. */
  readonly log?: DecisionLog | undefined;
  /** Called with the first store error of each batch that was not counted whole: clients do not get its reason. */
  readonly onStoreError?: (error: StoreError) => void;
  /** Called for a fault of ours; the affected requests are answered `internal`. */
  readonly onFault: (error: unknown) => void;
}

export type DecisionOptions = PlanOptions & AnswerOptions;

/**
 * Answers every request of a batch, exactly once, and says what statistics should count. Never
 * rejects: whatever goes wrong is an answer. Rules, clock and store are asked once per batch.
 */
export type DecideBatch = (pendingRequests: readonly PendingRequest[]) => Promise<BatchStats>;

const NONE_YET = { current: 'no rules are loaded yet' };

export function createDecideBatch(deps: DecisionDeps, options: DecisionOptions): DecideBatch {
  const windowsAt = createWindowTable();
  const { log } = deps;
  const { whyNoRules = NONE_YET } = deps;

  return async (pendingRequests) => {
    const trace = deps.tracer?.begin(pendingRequests);
    const rules = deps.rules.current;
    if (rules === undefined) {
      return refuseAll(pendingRequests, 'no_rules', whyNoRules.current, trace);
    }
    const nowSeconds = deps.clock();
    const windows = windowsAt(nowSeconds);
    let batch: BatchContext;
    let answers: readonly Answer[];
    try {
      const requests = pendingRequests.map((pending) => pending.request);
      const plan = planBatch(rules, requests, windows, options, deps.random);
      trace?.matched(plan.increments.length);
      const reply = await count(deps.counters, plan, nowSeconds);
      if (plan.increments.length > 0) trace?.counted(reply);
      const counted = isWhole(reply)
        ? { reply, outage: undefined }
        : await countLocally(reply, plan, nowSeconds, deps, options);
      batch = createBatchContext(plan, counted, windows, options, log !== undefined);
      answers = answersOf(pendingRequests, batch);
    } catch (error) {
      deps.onFault(error);
      return refuseAll(pendingRequests, 'internal', 'the decision failed, see the log', trace);
    }
    // Whatever fails from here on, each call has its answer.
    try {
      giveAnswers(pendingRequests, answers, batch.batchStats, trace);
      if (log !== undefined) logDecisions(log, nowSeconds, pendingRequests, answers, batch);
    } catch (error) {
      deps.onFault(error);
    }
    return batch.batchStats;
  };
}

const NOTHING_TO_COUNT: CounterReply = { after: [], held: undefined, failures: undefined };

async function count(
  counters: Pick<Counters, 'add'>,
  { increments, groupEnds }: Pick<Plan, 'increments' | 'groupEnds'>,
  nowSeconds: number,
): Promise<CounterReply | StoreError> {
  if (increments.length === 0) return NOTHING_TO_COUNT;
  try {
    return await counters.add({ increments, groupEnds, nowSeconds });
  } catch (error) {
    if (error instanceof StoreError) return error;
    const message = 'the counter store failed';
    return new StoreError('store_unavailable', message, { cause: error, forCaller: message });
  }
}

function isWhole(reply: CounterReply | StoreError): reply is CounterReply {
  return !(reply instanceof StoreError) && reply.failures === undefined;
}

function firstError(reply: CounterReply | StoreError): StoreError {
  if (reply instanceof StoreError) return reply;
  return reply.failures?.values().next().value as StoreError;
}

/** Counts in this process what the store failed and a rule wants counted here. */
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
  const counts = reply instanceof StoreError ? NOTHING_TO_COUNT : reply;
  const planned = planLocal(plan, errorOf, nowSeconds, options);
  if (planned === undefined || localCounters === undefined)
    return { reply: counts, outage: { errorOf, local: new Map() } };
  const { increments, groupEnds } = planned.batch;
  const counted = await count(localCounters, { increments, groupEnds }, nowSeconds);
  return { reply: counts, outage: { errorOf, local: toLocalCounts(planned.indexes, counted) } };
}

const NOTHING_UNMET = { unknownDomains: [], unmatched: undefined };

function refuseAll(
  pendingRequests: readonly PendingRequest[],
  code: FailureCode,
  message: string,
  trace: BatchTrace | undefined,
): BatchStats {
  const batchStats = new BatchStatsSheet(NOTHING_UNMET, pendingRequests.length);
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
    const { request } = pendingRequests[i] as PendingRequest;
    const fault = plan.faults[i];
    if (fault !== undefined) {
      batchStats.failed();
      answers.push(failure('invalid_request', fault));
      continue;
    }
    const end = at + request.descriptors.length;
    answers.push(answerFor(request, batch, at, end));
    at = end;
  }
  return answers;
}

function giveAnswers(
  pendingRequests: readonly PendingRequest[],
  answers: readonly Answer[],
  batchStats: BatchStatsSheet,
  trace: BatchTrace | undefined,
): void {
  for (let i = 0; i < pendingRequests.length; i++) {
    const { responder, callId } = pendingRequests[i] as PendingRequest;
    const answer = answers[i] as Answer;
    const isTaken = responder.answer(callId, answer);
    if (!isTaken && answer.kind === 'decision') batchStats.abandoned += 1;
  }
  trace?.answered(answers);
}
