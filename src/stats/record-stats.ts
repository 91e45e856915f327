import type { BatchStats, DescriptorStats } from '../core/decision/figures';
import { NAMES } from './names';
import type { Registry } from './registry';

/**
 * Records the statistics of a batch's decisions. Adds tallies to the registry. A rule's counters are found by one map lookup; its
 * name is cleaned when the first hit creates them.
 */
export function createRecordStats(registry: Registry) {
  const { rules, unknownDomains, unmatched } = registry;
  const serviceErrors = registry.counter(NAMES.serviceError);
  const storeErrors = registry.counter(NAMES.storeError);
  const storeTimeouts = registry.counter(NAMES.storeTimeout);
  const breakerOpen = registry.counter(NAMES.breakerOpen);
  const answeredLocally = registry.counter(NAMES.answeredLocally);
  const abandoned = registry.counter(NAMES.abandoned);
  const globalShadowMode = registry.counter(NAMES.globalShadowMode);

  return (batchStats: BatchStats): void => {
    const lines = batchStats.rules;
    // eslint-disable-next-line @typescript-eslint/prefer-for-of -- once for each descriptor: no iterator
    for (let i = 0; i < lines.length; i += 1) {
      const line = lines[i] as DescriptorStats;
      rules.of(line.metric).add(line);
    }
    if (batchStats.budgets !== undefined) {
      for (const { metric, figure, by } of batchStats.budgets)
        registry.budgets[figure].of(metric, by).add(by);
    }
    for (const { domain, descriptors } of batchStats.unmet.unknownDomains) {
      unknownDomains.of(domain, descriptors).add(descriptors);
    }
    if (batchStats.unmet.unmatched !== undefined) {
      for (const [domain, descriptors] of batchStats.unmet.unmatched)
        unmatched.of(domain, descriptors).add(descriptors);
    }
    serviceErrors.add(batchStats.serviceErrors);
    storeErrors.add(batchStats.storeErrors);
    storeTimeouts.add(batchStats.storeTimeouts);
    breakerOpen.add(batchStats.breakerOpen);
    answeredLocally.add(batchStats.answeredLocally);
    abandoned.add(batchStats.abandoned);
    globalShadowMode.add(batchStats.globalShadowMode);
  };
}
