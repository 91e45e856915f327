import type { Algorithm } from '../algorithms/algorithm';
import type { CounterState } from '../algorithms/counter-state';
import type { DescriptorHit, Plan } from '../planning/plan';
import type { Windows } from '../planning/windows';
import type { StoreError } from '../errors';
import type { CounterBatch, CounterReply, Increment } from '../ports';
import type { OnStoreError } from '../rules/definition';
import {
  evaluate,
  evaluateUncounted,
  NO_LIMIT,
  type EvaluateOptions,
  type Verdict,
} from './verdict';

export interface OutageOptions {
  /** KVSTORE_FAILURE_MODE: what happens under a rule that says nothing itself; `error` when undefined. */
  readonly onStoreError?: OnStoreError;
  /** KVSTORE_FAILURE_REPLICAS: instances that share a limit while each counts for itself; 1 when undefined. */
  readonly failureReplicas?: number;
}

/** What takes the place of the store for the increments that it failed. */
export interface Outage {
  /** Why an increment was not counted; undefined when it was. */
  readonly errorOf: (increment: number) => StoreError | undefined;
  /** The counts of this process, by the number of the increment in the plan. */
  readonly local: ReadonlyMap<number, LocalCount>;
}

export interface LocalCount {
  readonly after: number;
  readonly isHeld: boolean;
  /** Of an algorithm: where the counter of this process stood. */
  readonly state: CounterState | undefined;
  /** Why it cannot be counted here either. */
  readonly error: StoreError | undefined;
}

/** What an ask gets in place of its count; a fault of its own key is an error under every policy. */
export function policyOf(
  { limit }: DescriptorHit,
  { fault }: StoreError,
  { onStoreError = 'error' }: OutageOptions,
): OnStoreError {
  return fault === 'key' ? 'error' : (limit.onStoreError ?? onStoreError);
}

/** An instance's share of a limit, rounded down; at least 1, so that an outage shuts no caller out. */
export function shareOfLimit(limit: number, { failureReplicas = 1 }: OutageOptions): number {
  return limit === 0 ? 0 : Math.max(1, Math.floor(limit / failureReplicas));
}

function shareOfAlgorithm(
  algorithm: Algorithm | undefined,
  options: OutageOptions,
): Algorithm | undefined {
  if (algorithm === undefined) return undefined;
  const limit = shareOfLimit(algorithm.limit, options);
  return { ...algorithm, limit, size: shareOfLimit(algorithm.size, options) };
}

interface LocalPlan {
  readonly batch: CounterBatch;
  /** The number in the plan of each of its increments. */
  readonly indexes: readonly number[];
}

/** The increments that are to be counted in this process; undefined when there are none. */
export function planLocal(
  { descriptorHits, increments, groupEnds }: Plan,
  errorOf: Outage['errorOf'],
  nowSeconds: number,
  options: OutageOptions,
): LocalPlan | undefined {
  const wanted = new Set<number>();
  for (const hit of descriptorHits) {
    if (hit === undefined || hit.increment === -1) continue;
    const error = errorOf(hit.increment);
    if (error !== undefined && policyOf(hit, error, options) === 'local') wanted.add(hit.increment);
  }
  if (wanted.size === 0) return undefined;
  const indexes = [...wanted].sort((a, b) => a - b);
  const shared = indexes.map((index): Increment => {
    const increment = increments[index] as Increment;
    const limit = shareOfLimit(increment.limit, options);
    return { ...increment, limit, algorithm: shareOfAlgorithm(increment.algorithm, options) };
  });
  const ends = groupEnds && endsAmong(indexes, groupEnds);
  return { batch: { increments: shared, groupEnds: ends, nowSeconds }, indexes };
}

/** How many of the indexes, which ascend, lie before each end; ends ascend too. */
function endsAmong(indexes: readonly number[], ends: readonly number[]): readonly number[] {
  let before = 0;
  return ends.map((end) => {
    while (before < indexes.length && (indexes[before] as number) < end) before += 1;
    return before;
  });
}

/** The counts of this process by their number in the plan. */
export function toLocalCounts(
  indexes: readonly number[],
  reply: CounterReply | StoreError,
): ReadonlyMap<number, LocalCount> {
  return new Map(
    indexes.map((index, at) => {
      if (reply instanceof Error)
        return [index, { after: 0, isHeld: false, state: undefined, error: reply }];
      const { after, held, failures, states } = reply;
      const isHeld = held?.[at] === true;
      const error = failures?.get(at);
      return [index, { after: after[at] as number, isHeld, state: states?.[at], error }];
    }),
  );
}

/** The verdict on an ask whose counter the store failed; the count matters under `local` only. */
export function evaluateInOutage(
  hit: DescriptorHit,
  policy: OnStoreError,
  { after, isHeld }: Pick<LocalCount, 'after' | 'isHeld'>,
  windows: Windows,
  options: EvaluateOptions & OutageOptions,
): Verdict {
  if (policy === 'local') return evaluate(withShare(hit, options), after, isHeld, windows, options);
  return evaluateUncounted(hit, policy === 'deny', windows, options);
}

/**
 * The verdict on an ask that is left without an answer while another one of its request is over its limit: OK without a
 * limit, since nothing is known of it. A quota of which nothing is known is not over.
 */
export function evaluateUnknown(
  hit: DescriptorHit,
  { quotaMode }: Pick<EvaluateOptions, 'quotaMode'>,
): Verdict {
  return {
    status: NO_LIMIT,
    enforcement: quotaMode || hit.limit.quotaMode ? 'quota' : 'hard',
    limit: hit.limit,
    metric: hit.metric,
    totalHits: Math.max(hit.hits, 0),
    totalNegativeHits: Math.max(-hit.hits, 0),
    overLimit: 0,
    nearLimit: 0,
    withinLimit: 0,
    shadowMode: 0,
    overLimitWithLocalCache: 0,
  };
}

/** The same ask under this instance's share of its limit; the status goes on showing the whole one. */
export function withShare(hit: DescriptorHit, options: OutageOptions): DescriptorHit {
  const { limit } = hit;
  const requestsPerUnit = shareOfLimit(limit.requestsPerUnit, options);
  if (requestsPerUnit === limit.requestsPerUnit && limit.algorithm === undefined) return hit;
  const algorithm = shareOfAlgorithm(limit.algorithm, options);
  return { ...hit, limit: { ...limit, requestsPerUnit, algorithm } };
}
