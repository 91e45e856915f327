import { map, merge } from 'rxjs';
import { healthStatus } from '../../../streams';
import type { CounterPlace, CounterReader, CounterWriter, ListOpen } from '../../core/ports';
import { isPerSecond } from '../../counters/split';
import type { PublishInvalidation } from '../../counters/with-over-limit-cache';
import type { Logger } from '../../platform/logger';
import type { StoreBackend, ScriptStore } from './backend';
import { byName, describeSplit, PER_SECOND_STORE, STORE } from './describe-store';
import type { RedisBackend } from './redis-store';

/** Two stores as one, which is connected while both are: each has counters that the other lacks. */
export function splitStore(
  others: RedisBackend,
  perSecond: RedisBackend,
  logger: Logger,
): StoreBackend {
  const connections = new Map([
    [STORE, others.connected$],
    [PER_SECOND_STORE, perSecond.connected$],
  ]);
  const status$ = healthStatus(Object.fromEntries(connections));
  const storeOf = (place: Pick<CounterPlace, 'rule'>) => (isPerSecond(place) ? perSecond : others);
  const listOpen: ListOpen = (place, most) => storeOf(place).listOpen(place, most);
  return {
    servers: {
      others: others.servers,
      perSecond: perSecond.servers,
      onNotAtomic() {
        logger.warn(
          'STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT is not atomic for requests with counters in both stores: counters are read before they are incremented',
        );
      },
    },
    closeGauges() {
      others.closeGauges();
      perSecond.closeGauges();
    },
    reader: splitReader(perSecond.reader, others.reader),
    writer: splitWriter(perSecond.writer, others.writer),
    listOver: undefined,
    listOpen,
    publishInvalidation: splitPublishing(perSecond.publishInvalidation, others.publishInvalidation),
    readFields: (hash, fields) => (hash.isPerSecond ? perSecond : others).readFields(hash, fields),
    claim: others.claim,
    noteVersions: others.noteVersions,
    scriptStores: [...countsOf(others, 'others'), ...countsOf(perSecond, 'per-second')],
    connected$: status$.pipe(map(({ serving }) => serving)),
    connections,
    run$: merge(others.run$, perSecond.run$),
    whyAway: () => others.whyAway() ?? perSecond.whyAway(),
    misplaced: () =>
      byName([
        [STORE, others.misplaced().get(STORE)],
        [PER_SECOND_STORE, perSecond.misplaced().get(STORE)],
      ]),
    hanging: () => [
      ...others.hanging(),
      ...(perSecond.hanging().length > 0 ? [PER_SECOND_STORE] : []),
    ],
    description: describeSplit(others.description, perSecond.description),
  };
}

function countsOf(
  { scriptStores }: StoreBackend,
  counts: ScriptStore['counts'],
): readonly ScriptStore[] {
  return scriptStores.map(({ prefix, lacksScripts }) => ({ prefix, lacksScripts, counts }));
}

/** Asks two stores, each for its own counters; returns all answers in their order. */
async function callBoth<P extends Pick<CounterPlace, 'rule'>, A>(
  places: readonly P[],
  ask: (own: readonly P[], arePerSecond: boolean) => Promise<readonly A[]>,
): Promise<readonly A[]> {
  const [seconds, rest] = await Promise.all([
    ask(places.filter(isPerSecond), true),
    ask(
      places.filter((place) => !isPerSecond(place)),
      false,
    ),
  ]);
  const [ofSeconds, ofRest] = [seconds.values(), rest.values()];
  return places.map((place) => (isPerSecond(place) ? ofSeconds : ofRest).next().value as A);
}

/** Per-second limits have a store of their own. */
function splitReader(perSecond: CounterReader, others: CounterReader): CounterReader {
  return {
    read: (places) =>
      callBoth(places, (own, arePerSecond) => (arePerSecond ? perSecond : others).read(own)),
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
