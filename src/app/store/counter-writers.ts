import type { CounterWriter, Increment } from '../../core/ports';
import { isPerSecond } from '../../counters/per-second-split';
import type { PublishInvalidation } from '../../counters/with-over-limit-cache';

/** What is limited per second lies in a store of its own. */
export function splitWriter(perSecond: CounterWriter, others: CounterWriter): CounterWriter {
  type Done = ReturnType<CounterWriter['remove']>;
  const inBoth = async (
    counters: readonly Increment[],
    act: (writer: CounterWriter, own: readonly Increment[]) => Done,
  ): Done => {
    const [seconds, rest] = await Promise.all([
      act(perSecond, counters.filter(isPerSecond)),
      act(
        others,
        counters.filter((one) => !isPerSecond(one)),
      ),
    ]);
    const [ofSeconds, ofRest] = [seconds.values(), rest.values()];
    return counters.map((one) => (isPerSecond(one) ? ofSeconds : ofRest).next().value);
  };
  return {
    remove: (counters, options) => inBoth(counters, (writer, own) => writer.remove(own, options)),
    set: (counters, used, nowSeconds, limit) =>
      inBoth(counters, (writer, own) => writer.set(own, used, nowSeconds, limit)),
  };
}

/** Each store carries the messages about its own counters. */
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
