import type { RuleTally, Tally } from '../core/decision/tally';
import type { Counter } from './counter';
import { cleanName, MAX_METRIC_LENGTH, NAMES } from './names';
import type { Registry } from './registry';

/** Counts what the decisions of a batch say about themselves. */
export type RecordTally = (tally: Tally) => void;

/**
 * Adds tallies to the registry. A rule's counters are looked up by one read of a map; the names are
 * cleaned when the first hit makes them.
 */
export function createRecordTally(registry: Registry): RecordTally {
  const rules = new Map<string, RuleCounters>();
  const unknownDomains = new Map<string, Counter>();
  const serviceErrors = registry.counter(NAMES.serviceError);
  const storeErrors = registry.counter(NAMES.storeError);
  const globalShadowMode = registry.counter(NAMES.globalShadowMode);

  const ruleCounters = (metric: string): RuleCounters => {
    const key = mapKey(metric);
    const known = rules.get(key);
    if (known !== undefined) return known;
    const created = new RuleCounters(registry, `${NAMES.rules}.${cleanName(metric)}`);
    rules.set(key, created);
    return created;
  };

  const unknownDomain = (domain: string): Counter => {
    const key = mapKey(domain);
    const known = unknownDomains.get(key);
    if (known !== undefined) return known;
    const created = registry.counter(`${NAMES.rules}.${cleanName(domain)}.domain_not_found`);
    unknownDomains.set(key, created);
    return created;
  };

  return (tally) => {
    const lines = tally.rules;
    // eslint-disable-next-line @typescript-eslint/prefer-for-of -- once for each descriptor: no iterator
    for (let i = 0; i < lines.length; i += 1) {
      const line = lines[i] as RuleTally;
      ruleCounters(line.metric).add(line);
    }
    for (const domain of tally.unknownDomains) unknownDomain(domain).add(1);
    serviceErrors.add(tally.serviceErrors);
    storeErrors.add(tally.storeErrors);
    globalShadowMode.add(tally.globalShadowMode);
  };
}

/** The text to remember a metric by: never a huge one, since a caller can send any number of those. */
function mapKey(metric: string): string {
  return metric.length > MAX_METRIC_LENGTH ? cleanName(metric) : metric;
}

/** The counters of one metric key; one that never counted does not exist. */
class RuleCounters {
  readonly #registry: Registry;
  readonly #path: string;
  #totalHits: Counter | undefined;
  #overLimit: Counter | undefined;
  #nearLimit: Counter | undefined;
  #withinLimit: Counter | undefined;
  #shadowMode: Counter | undefined;
  #overLimitWithLocalCache: Counter | undefined;

  constructor(registry: Registry, path: string) {
    this.#registry = registry;
    this.#path = path;
  }

  add(hits: RuleTally): void {
    this.#totalHits = this.#grown(this.#totalHits, 'total_hits', hits.totalHits);
    this.#overLimit = this.#grown(this.#overLimit, 'over_limit', hits.overLimit);
    this.#nearLimit = this.#grown(this.#nearLimit, 'near_limit', hits.nearLimit);
    this.#withinLimit = this.#grown(this.#withinLimit, 'within_limit', hits.withinLimit);
    this.#shadowMode = this.#grown(this.#shadowMode, 'shadow_mode', hits.shadowMode);
    this.#overLimitWithLocalCache = this.#grown(
      this.#overLimitWithLocalCache,
      'over_limit_with_local_cache',
      hits.overLimitWithLocalCache,
    );
  }

  #grown(counter: Counter | undefined, stat: string, by: number): Counter | undefined {
    if (by === 0) return counter;
    const grown = counter ?? this.#registry.counter(`${this.#path}.${stat}`);
    grown.add(by);
    return grown;
  }
}
