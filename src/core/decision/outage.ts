import { pick, type SubBatch } from '../batches/sub-batch';
import { isBudgetGate } from '../budgets/budget';
import { shareOf } from '../kinds/gate';
import type { Gate } from '../kinds/kind';
import type { DescriptorHit, Plan } from '../planning/plan';
import type { StoreError } from '../errors';
import type { CounterReply, Increment } from '../ports';
import { shareOfBudget } from '../rules/compile-budget';
import type { OnStoreError } from '../rules/definition';
import { NO_FIGURES } from './figures';
import { NO_LIMIT, type EvaluateOptions, type Verdict } from './verdict';

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
  /** What this process counts, as a reply to the whole plan; undefined: nothing. */
  readonly local: CounterReply | undefined;
}

/** What an ask gets in place of its count; a fault of its own key is an error under every policy. */
export function policyOf(
  { limit }: DescriptorHit,
  { fault }: StoreError,
  { onStoreError = 'error' }: OutageOptions,
): OnStoreError {
  return fault === 'key' ? 'error' : (limit.onStoreError ?? onStoreError);
}

/** How an instance counts by itself. */
export function localGate(gate: Gate, { failureReplicas = 1 }: OutageOptions): Gate {
  const share = (one: Gate): Gate => shareOf(one, failureReplicas);
  return isBudgetGate(gate) ? shareOfBudget(gate, share) : share(gate);
}

/** The increments that are to be counted in this process; undefined when there are none. */
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

/** The same asks under the share of this instance. */
export function toLocal(increment: Increment, options: OutageOptions): Increment {
  const gate = localGate(increment.gate, options);
  return { ...increment, limit: gate.limit, gate };
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
    ...NO_FIGURES,
    status: NO_LIMIT,
    enforcement: quotaMode || hit.limit.quotaMode ? 'quota' : 'hard',
    limit: hit.limit,
    metric: hit.metric,
    totalHits: Math.max(hit.hits, 0),
    totalNegativeHits: Math.max(-hit.hits, 0),
  };
}
