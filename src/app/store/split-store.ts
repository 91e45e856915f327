import { map, merge } from 'rxjs';
import { healthStatus } from '../../../streams';
import type { ReadFields } from '../../counters/limits-from/create-limits-from';
import { createPerSecondSplit, isPerSecond } from '../../counters/per-second-split';
import type { Logger } from '../../platform/logger';
import { splitOpen, splitReader, callBoth } from './counter-readers';
import { byName, describeSplit, PER_SECOND_STORE, STORE } from './describe-store';
import type { RedisStore } from './redis-store';
import type { CounterWriter } from '../../core/ports';
import type { PublishInvalidation } from '../../counters/with-over-limit-cache';

/** Two stores as one, which is connected while both are: each has counters that the other lacks. */
export function splitStore(others: RedisStore, perSecond: RedisStore, logger: Logger) {
  const connections = new Map([
    [STORE, others.connected$],
    [PER_SECOND_STORE, perSecond.connected$],
  ]);
  const status$ = healthStatus(Object.fromEntries(connections));
  const readFields: ReadFields = (hash, fields) =>
    (hash.isPerSecond ? perSecond : others).readFields(hash, fields);
  return {
    counters: createPerSecondSplit({
      perSecond: perSecond.counters,
      others: others.counters,
      onNotAtomic() {
        logger.warn(
          'STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT is not atomic for requests with counters in both stores: counters are read before they are incremented',
        );
      },
    }),
    reader: splitReader(perSecond.reader, others.reader),
    writer: splitWriter(perSecond.writer, others.writer),
    listOpen: splitOpen(perSecond.listOpen, others.listOpen),
    publishInvalidation: splitPublishing(perSecond.publishInvalidation, others.publishInvalidation),
    connected$: status$.pipe(map(({ serving }) => serving)),
    connections,
    readFields,
    run$: merge(others.run$, perSecond.run$),
    hanging: () => [
      ...others.hanging(),
      ...(perSecond.hanging().length > 0 ? [PER_SECOND_STORE] : []),
    ],
    misplaced: () =>
      byName([
        [STORE, others.misplaced()],
        [PER_SECOND_STORE, perSecond.misplaced()],
      ]),
    whyAway: () => others.whyAway() ?? perSecond.whyAway(),
    claim: others.claim,
    noteVersions: others.noteVersions,
    scriptStores: [
      { ...others.scripts, counts: 'others' as const },
      { ...perSecond.scripts, counts: 'per-second' as const },
    ],
    description: describeSplit(others.description, perSecond.description),
  };
}

/** Per-second limits have a store of their own. */
function splitWriter(perSecond: CounterWriter, others: CounterWriter): CounterWriter {
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
function splitPublishing(
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
