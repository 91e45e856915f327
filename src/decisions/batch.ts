import { hitsOfIncrement, type DescriptorHit, type Plan } from '../core/planning/plan';
import type { Windows } from '../core/planning/windows';
import type { Outage, OutageOptions } from '../core/decision/outage';
import type { PolicyOptions } from '../core/decision/policy-headers';
import type { HeaderNames } from '../core/decision/response';
import { BatchStatsBuilder } from '../core/decision/figures';
import type { EvaluateOptions, Verdict } from '../core/decision/verdict';
import type { CounterReply, Increment, PendingRequest } from '../core/ports';

export interface AnswerOptions extends EvaluateOptions, OutageOptions {
  /** SHADOW_MODE: the overall code is always OK. */
  readonly shadowMode: boolean;
  /** Undefined: no response headers. */
  readonly headers: HeaderNames | undefined;
  /** Undefined: only those three headers, no jitter and no body. */
  readonly policies?: PolicyOptions | undefined;
  /** RESPONSE_DYNAMIC_METADATA. */
  readonly dynamicMetadata: boolean;
  /**
   * The store reads counts before it adds: the descriptors of one request do not see each other's hits (memcached, as recorded).
   * They do see those of earlier requests in the batch.
   */
  readonly readFirst?: boolean;
}

export interface Counted {
  readonly reply: CounterReply;
  /** Undefined when the store counted everything. */
  readonly outage: Outage | undefined;
}

/** One for each descriptor of a request; undefined where no limit applies. */
export type Verdicts = readonly (Verdict | undefined)[];

/** The data that the answers of one batch share; made once per batch. */
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
    batchStats: new BatchStatsBuilder(plan.unmet, plan.faults.length),
    /**
     * With `readFirst`: for each increment, the index of its first hit in the current request. Requests are evaluated in order, so
     * an index of an earlier request is below their start.
     */
    firstHits: options.readFirst ? new Int32Array(plan.increments.length).fill(-1) : undefined,
    /** For the decision log: the verdicts of each decided request, in order; undefined when they are not kept. */
    verdicts: keepsVerdicts ? ([] as Verdicts[]) : undefined,
  };
}

export type BatchContext = ReturnType<typeof createBatchContext>;

/** Notes the hit at `index` of a request that begins at `start`, unless the request has used its increment before. */
export function noteFirst(
  firstHits: Int32Array,
  hit: DescriptorHit,
  index: number,
  start: number,
): void {
  const { increment } = hit;
  if (increment !== -1 && (firstHits[increment] as number) < start) firstHits[increment] = index;
}

/** The hits of the same increment that came after this one. */
export function hitsAfter({ cumulativeHits }: DescriptorHit, increment: Increment): number {
  return hitsOfIncrement(increment) - cumulativeHits;
}

/** All hits of the same increment except this one and those of earlier requests. */
export function hitsBeside(hit: DescriptorHit, plan: Plan, firstHits: Int32Array): number {
  const { hits, cumulativeHits } = plan.descriptorHits[
    firstHits[hit.increment] as number
  ] as DescriptorHit;
  const earlier = cumulativeHits - hits;
  return hitsOfIncrement(plan.increments[hit.increment] as Increment) - earlier - hit.hits;
}

/** For each hit from `start` to `end` whether a lease answered it, without the store; undefined: none was. */
export function leasedHits(
  { reply: { leased }, plan }: Pick<BatchContext, 'reply' | 'plan'>,
  start: number,
  end: number,
): readonly boolean[] | undefined {
  if (leased === undefined) return undefined;
  const hits: boolean[] = [];
  for (let i = start; i < end; i++)
    hits.push(leased[plan.descriptorHits[i]?.increment ?? -1] === true);
  return hits.includes(true) ? hits : undefined;
}

/** For each request the number of those hits; undefined: none in the batch. */
export function leasedCounts(
  pendingRequests: readonly PendingRequest[],
  batch: Pick<BatchContext, 'reply' | 'plan'>,
): readonly number[] | undefined {
  if (batch.reply.leased === undefined) return undefined;
  let start = 0;
  return pendingRequests.map(({ request }, i) => {
    // Invalid requests are not in the plan.
    if (batch.plan.faults[i] !== undefined) return 0;
    const end = start + request.descriptors.length;
    const hits = leasedHits(batch, start, end) ?? [];
    start = end;
    return hits.filter(Boolean).length;
  });
}
