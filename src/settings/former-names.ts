/** Beginnings of names, and how the deployments of today write them (behaviour.md §1.1). */
const FORMER_BEGINNINGS: readonly (readonly [string, string])[] = [
  ['KVSTORE', 'REDIS'],
  ['MEMSTORE', 'MEMCACHE'],
  ['PULLMETRICS', 'PROMETHEUS'],
  ['USE_PULLMETRICS', 'USE_PROMETHEUS'],
  ['TAGGED_STATSD', 'DOG_STATSD'],
  ['USE_TAGGED_STATSD', 'USE_DOG_STATSD'],
];

/** The other names of a setting, for settings whose names differ in their beginning only. */
export function formerNames(name: string): readonly string[] {
  const found = FORMER_BEGINNINGS.find(([now]) => name === now || name.startsWith(`${now}_`));
  return found === undefined ? [] : [found[1] + name.slice(found[0].length)];
}
