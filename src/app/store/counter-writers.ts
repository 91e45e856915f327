import type { CounterWriter } from '../../core/ports';
import { isPerSecond } from '../../counters/per-second-split';
import type { PublishInvalidation } from '../../counters/with-over-limit-cache';
import { callBoth } from './counter-readers';

/** Per-second limits have a store of their own. */
export function splitWriter(perSecond: CounterWriter, others: CounterWriter): CounterWriter {
  const writerOf = (arePerSecond: boolean) => (arePerSecond ? perSecond : others);
  return {
    remove: (counters, options) =>
      callBoth(counters, (own, arePerSecond) => writerOf(arePerSecond).remove(own, options)),
    set: (counters, used, nowSeconds, limit) =>
      callBoth(counters, (own, arePerSecond) =>
        writerOf(arePerSecond).set(own, used, nowSeconds, limit),
      ),
  };
}

/** Each store publishes the messages about its own counters. */
export function splitPublishing(
  perSecond: PublishInvalidation | undefined,
  others: PublishInvalidation | undefined,
): PublishInvalidation | undefined {
  if (perSecond === undefined || others === undefined) return undefined;
  return (counters, isReset) => {
    const seconds = counters.filter(isPerSecond);
    if (seconds.length > 0) perSecond(seconds, isReset);
    if (seconds.length < counters.length)
      others(
        counters.filter((one) => !isPerSecond(one)),
        isReset,
      );
  };
}
