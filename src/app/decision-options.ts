import type { DecisionOptions } from '../decisions/decide-batch';
import type { Settings } from '../settings/settings';

/** The settings that shape a decision, in the words of the core. */
export function toDecisionOptions(settings: Settings): DecisionOptions {
  const { decisions, responseHeaders, storeFailure, backend } = settings;
  const { enabled, limit, remaining, reset } = responseHeaders;
  return {
    keyPrefix: decisions.cacheKeyPrefix,
    ttlJitterSeconds: decisions.expirationJitterMaxSeconds,
    holdBack: decisions.stopIncrementWhenOverLimit,
    nearLimitRatio: decisions.nearLimitRatio,
    quotaMode: decisions.quotaMode,
    shadowMode: decisions.shadowMode,
    headers: enabled ? { limit, remaining, reset } : undefined,
    dynamicMetadata: decisions.responseDynamicMetadata,
    onStoreError: storeFailure.mode,
    failureReplicas: storeFailure.replicas,
    readFirst: backend === 'memstore',
  };
}
