import type { Ask, Plan } from '../core/planning/plan';
import type { Windows } from '../core/planning/windows';
import type { Outage, OutageOptions } from '../core/decision/outage';
import type { PolicyHeaderOptions } from '../core/decision/policy-headers';
import type { HeaderNames } from '../core/decision/response';
import { TallySheet } from '../core/decision/tally';
import type { EvaluateOptions } from '../core/decision/verdict';
import type { CounterReply } from '../core/ports';

export interface PolicyOptions extends PolicyHeaderOptions {
  /** LIMIT_BODY: a client that is over its limit gets a problem as its body. */
  readonly problemBody: boolean;
}

export interface AnswerOptions extends EvaluateOptions, OutageOptions {
  /** SHADOW_MODE: the overall code is always OK. */
  readonly shadowMode: boolean;
  /** Undefined: no response headers. */
  readonly headers: HeaderNames | undefined;
  /** Undefined: no header beside those three, no jitter and no body. */
  readonly policies?: PolicyOptions | undefined;
  /** RESPONSE_DYNAMIC_METADATA. */
  readonly dynamicMetadata: boolean;
  /**
   * The store reads counts before it adds: the descriptors of one request do not see each other's hits
   * (memcached, as recorded). Those of an earlier request of the batch they do see.
   */
  readonly readFirst?: boolean;
}

/** When a batch is decided. */
export interface Moment {
  readonly windows: Windows;
  /** Unix seconds. */
  readonly nowSeconds: number;
}

/** What the counters say of a batch. */
export interface Counted {
  readonly reply: CounterReply;
  /** Undefined when the store counted all of it. */
  readonly outage: Outage | undefined;
}

/** What the answers of one batch share; made once for it. */
export interface BatchContext extends Counted, Moment {
  readonly plan: Plan;
  readonly options: AnswerOptions;
  readonly tally: TallySheet;
  /**
   * With `readFirst`: for each increment, the index of its first ask in the request at hand. Requests are evaluated in order,
   * so an older index is below their start.
   */
  readonly firstAsks: Int32Array | undefined;
}

export function createBatchContext(
  plan: Plan,
  { reply, outage }: Counted,
  { windows, nowSeconds }: Moment,
  options: AnswerOptions,
): BatchContext {
  return {
    plan,
    reply,
    outage,
    windows,
    nowSeconds,
    options,
    tally: new TallySheet(plan.unmet),
    firstAsks: options.readFirst ? new Int32Array(plan.increments.length).fill(-1) : undefined,
  };
}

/** Notes the ask at `index` of a request that begins at `start`, unless the request has asked for its increment before. */
export function noteFirst(firstAsks: Int32Array, ask: Ask, index: number, start: number): void {
  const { increment } = ask;
  if (increment !== -1 && (firstAsks[increment] as number) < start) firstAsks[increment] = index;
}

/** The hits of an ask's increment that came after its own. */
export function hitsAfter({ increment, cumulativeHits }: Ask, { increments }: Plan): number {
  return Number(increments[increment]?.hits) - cumulativeHits;
}

/** All hits of an ask's increment but its own and those of the requests before. */
export function hitsBeside(ask: Ask, plan: Plan, firstAsks: Int32Array): number {
  const { hits, cumulativeHits } = plan.asks[firstAsks[ask.increment] as number] as Ask;
  const earlier = cumulativeHits - hits;
  return Number(plan.increments[ask.increment]?.hits) - earlier - ask.hits;
}
