import { hitsOfIncrement, type DescriptorHit, type Plan } from '../core/planning/plan';
import type { Windows } from '../core/planning/windows';
import type { Outage, OutageOptions } from '../core/decision/outage';
import type { PolicyOptions } from '../core/decision/policy-headers';
import type { HeaderNames } from '../core/decision/response';
import { BatchStatsSheet } from '../core/decision/batch-stats';
import type { EvaluateOptions, Verdict } from '../core/decision/verdict';
import type { CounterReply, Increment } from '../core/ports';

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

export interface Counted {
  readonly reply: CounterReply;
  /** Undefined when the store counted all of it. */
  readonly outage: Outage | undefined;
}

/** One for each descriptor of a request; undefined where no limit applies. */
export type Verdicts = readonly (Verdict | undefined)[];

/** What the answers of one batch share; made once for it. */
export function createBatchContext(
  plan: Plan,
  { reply, outage }: Counted,
  windows: Windows,
  options: AnswerOptions,
  keepsVerdicts = false,
) {
  return {
    plan,
    reply,
    outage,
    windows,
    options,
    batchStats: new BatchStatsSheet(plan.unmet, plan.faults.length),
    /**
     * With `readFirst`: for each increment, the index of its first ask in the request at hand. Requests are evaluated in order,
     * so an older index is below their start.
     */
    firstHits: options.readFirst ? new Int32Array(plan.increments.length).fill(-1) : undefined,
    /** For the decision log: those of each request that was decided, in order; undefined when they are not kept. */
    verdicts: keepsVerdicts ? ([] as Verdicts[]) : undefined,
  };
}

export type BatchContext = ReturnType<typeof createBatchContext>;

/** Notes the ask at `index` of a request that begins at `start`, unless the request has asked for its increment before. */
export function noteFirst(
  firstHits: Int32Array,
  hit: DescriptorHit,
  index: number,
  start: number,
): void {
  const { increment } = hit;
  if (increment !== -1 && (firstHits[increment] as number) < start) firstHits[increment] = index;
}

/** The hits of an ask's increment that came after its own. */
export function hitsAfter({ cumulativeHits }: DescriptorHit, increment: Increment): number {
  return hitsOfIncrement(increment) - cumulativeHits;
}

/** All hits of an ask's increment but its own and those of the requests before. */
export function hitsBeside(hit: DescriptorHit, plan: Plan, firstHits: Int32Array): number {
  const { hits, cumulativeHits } = plan.descriptorHits[
    firstHits[hit.increment] as number
  ] as DescriptorHit;
  const earlier = cumulativeHits - hits;
  return hitsOfIncrement(plan.increments[hit.increment] as Increment) - earlier - hit.hits;
}
