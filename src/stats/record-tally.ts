import type { RuleTally, Tally } from '../core/decision/tally';
import { NAMES } from './names';
import type { Registry } from './registry';

/** Counts what the decisions of a batch say about themselves. */
export type RecordTally = (tally: Tally) => void;

/**
 * Adds tallies to the registry. A rule's counters are looked up by one read of a map; its name is
 * cleaned when the first hit makes them.
 */
export function createRecordTally(registry: Registry): RecordTally {
  const { rules, unknownDomains, unmatched } = registry;
  const serviceErrors = registry.counter(NAMES.serviceError);
  const storeErrors = registry.counter(NAMES.storeError);
  const storeTimeouts = registry.counter(NAMES.storeTimeout);
  const breakerOpen = registry.counter(NAMES.breakerOpen);
  const answeredLocally = registry.counter(NAMES.answeredLocally);
  const globalShadowMode = registry.counter(NAMES.globalShadowMode);

  return (tally) => {
    const lines = tally.rules;
    // eslint-disable-next-line @typescript-eslint/prefer-for-of -- once for each descriptor: no iterator
    for (let i = 0; i < lines.length; i += 1) {
      const line = lines[i] as RuleTally;
      rules.of(line.metric).add(line);
    }
    for (const { domain, descriptors } of tally.unmet.unknownDomains) {
      unknownDomains.of(domain, descriptors).add(descriptors);
    }
    if (tally.unmet.unmatched !== undefined) {
      for (const [domain, descriptors] of tally.unmet.unmatched)
        unmatched.of(domain, descriptors).add(descriptors);
    }
    serviceErrors.add(tally.serviceErrors);
    storeErrors.add(tally.storeErrors);
    storeTimeouts.add(tally.storeTimeouts);
    breakerOpen.add(tally.breakerOpen);
    answeredLocally.add(tally.answeredLocally);
    globalShadowMode.add(tally.globalShadowMode);
  };
}
