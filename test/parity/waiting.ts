import type { Scenario } from './scenario';

/** Why a vector waits for a feature that is not built yet, by the setting that asks for it. This list only shrinks. */
const NOT_BUILT_YET: Readonly<Record<string, string>> = {
  LOCAL_CACHE_SIZE_IN_BYTES: 'the local cache of over-limit keys',
  REDIS_PERSECOND: 'a second store for limits per second',
  BACKEND_TYPE: 'memcached',
  USE_PROMETHEUS: 'pull metrics',
  USE_DOG_STATSD: 'tagged statistics',
  EXTRA_TAGS: 'tags',
};

/** The vectors that wait, by name; the test fails when one is missing here or too many. */
export const WAITING: readonly string[] = [
  'extra-tags.json: two tags',
  'extra-tags.json: one tag',
  'local-cache.json: over the limit',
  'local-cache.json: several descriptors',
  'local-cache.json: shadow mode',
  'local-cache.json: addends',
  'memcached.json: keys and values',
  'memcached.json: equal descriptors',
  'memcached.json: addends',
  'memcached.json: a local cache',
  'per-second-store.json: two stores',
  'pull-metrics.json: a scrape',
  'pull-metrics.json: another path',
  'pull-metrics.json: a local cache',
  'random.json: seed 1000',
  'random.json: seed 1003',
  'random.json: seed 1011',
  'random.json: seed 1015',
  'random.json: seed 1017',
  'random.json: seed 1027',
  'random.json: seed 1031',
  'random.json: seed 1035',
  'statsd-wire.json: lines with a local cache',
  'statsd-wire.json: lines with two stores',
  'statsd-wire.json: lines with memcached',
  'tagged-statsd.json: tagged lines',
  'tagged-statsd.json: extra tags are real tags',
  'tagged-statsd.json: mogrifiers',
];

export function waitsFor({ settings }: Scenario): string | undefined {
  const name = Object.keys(settings).find((one) => Object.hasOwn(NOT_BUILT_YET, one));
  return name === undefined ? undefined : NOT_BUILT_YET[name];
}
