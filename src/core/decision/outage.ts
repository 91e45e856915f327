import { pick, type SubBatch } from '../batches/reply-draft';
import { isBudgetLimiter } from '../budgets/budget';
import { shareOf } from '../kinds/limiter';
import type { Limiter } from '../kinds/kind';
import type { DescriptorHit, Plan } from '../planning/plan';
import type { StoreError } from '../errors';
import type { CounterReply, Increment } from '../ports';
import { shareOfBudget } from '../rules/compile-budget';
import type { OnStoreError } from '../rules/definition';
import { NO_FIGURES } from './figures';
import { NO_LIMIT, type EvaluateOptions, type Verdict } from './verdict';

export interface OutageOptions {
  /** KVSTORE_FAILURE_MODE: the policy of rules without `on_store_error`; `error` when undefined. */
  readonly onStoreError?: OnStoreError;
  /** KVSTORE_FAILURE_REPLICAS: number of instances that share a limit while each counts alone; 1 when undefined. */
  readonly failureReplicas?: number;
}

/** Replaces the store for the increments that it failed. */
export interface Outage {
  /** Why an increment was not counted; undefined when it was. */
  readonly errorOf: (increment: number) => StoreError | undefined;
  /** The local counts, as a reply to the whole plan; undefined: nothing was counted locally. */
  readonly local: CounterReply | undefined;
}

/** The policy for a failed increment; a fault of the key itself is an error under every policy. */
export function policyOf(
  { limit }: DescriptorHit,
  { fault }: StoreError,
  { onStoreError = 'error' }: OutageOptions,
): OnStoreError {
  return fault === 'key' ? 'error' : (limit.onStoreError ?? onStoreError);
}

/** The limit of one instance that counts alone. */
export function localLimiter(limiter: Limiter, { failureReplicas = 1 }: OutageOptions): Limiter {
  const share = (one: Limiter): Limiter => shareOf(one, failureReplicas);
  return isBudgetLimiter(limiter) ? shareOfBudget(limiter, share) : share(limiter);
}

/** The increments to count in this process; undefined when there are none. */
export function planLocal(
  { descriptorHits, increments, groupEnds }: Plan,
  errorOf: Outage['errorOf'],
  nowSeconds: number,
  options: OutageOptions,
): SubBatch | undefined {
  const wanted = new Set<number>();
  for (const hit of descriptorHits) {
    if (hit === undefined || hit.increment === -1) continue;
    const error = errorOf(hit.increment);
    if (error !== undefined && policyOf(hit, error, options) === 'local') wanted.add(hit.increment);
  }
  if (wanted.size === 0) return undefined;
  const part = pick({ increments, groupEnds, nowSeconds }, (_, index) => wanted.has(index));
  return { ...part, increments: part.increments.map((one) => toLocal(one, options)) };
}

/** The same increment under this instance's share of the limit. */
export function toLocal(increment: Increment, options: OutageOptions): Increment {
  const limiter = localLimiter(increment.limiter, options);
  return { ...increment, limit: limiter.limit, limiter };
}

/**
 * The verdict on a descriptor without a count, in a request that another descriptor refuses: OK without a limit. A quota without a
 * count is not over.
 */
export function evaluateUnknown(
  hit: DescriptorHit,
  { quotaMode }: Pick<EvaluateOptions, 'quotaMode'>,
): Verdict {
  return {
    ...NO_FIGURES,
    status: NO_LIMIT,
    enforcement: quotaMode || hit.limit.quotaMode ? 'quota' : 'hard',
    limit: hit.limit,
    metric: hit.metric,
    totalHits: Math.max(hit.hits, 0),
    totalNegativeHits: Math.max(-hit.hits, 0),
  };
}
