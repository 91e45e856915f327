import { createHash } from 'node:crypto';
import type { BatchStats } from '../../core/decision/figures';
import type { Clock, PendingRequest, Random, ReadyCounters } from '../../core/ports';
import type { RuleLimit, Rules } from '../../core/rules/rules';
import type { Registry } from '../registry';
import { gotAnswer } from '../store-time';
import {
  type HotFigures,
  type HotKeyView,
  type LiveFigures,
  BatchFigures,
  exceptionCounts,
  quantilesSince,
} from './live-figures';
import { HotKeys, type HotKey } from './hot-keys';
import { RuleRates, type Hits } from './rule-rates';
import { cutText, pathOf, type RuleTree } from './rule-tree';
import { Unmatched } from './unmatched';

export interface LiveViewDeps {
  readonly rules: { readonly current: Rules | undefined };
  readonly registry: Pick<Registry, 'timers' | 'readGauges'>;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
}

export interface LiveViewOptions {
  /** CACHE_KEY_PREFIX. */
  readonly keyPrefix: string;
}

type Decide = (pendingRequests: readonly PendingRequest[]) => BatchStats | Promise<BatchStats>;

const RESPONSE_TIMER = 'ratelimit_server.ShouldRateLimit.response_time';
const SHOWN_HOT_KEYS = 40;
/** Gauges of stores and caches; the page shows no others. */
const STORE_GAUGE = /^ratelimit\.(?:redis_|memcache|memory|localcache|store)/;

/** Observes the service for the dashboard. While no dashboard is open, it costs one comparison per batch and keeps nothing. */
export function createLiveView(
  { rules, registry, clock, monotonicMs, random }: LiveViewDeps,
  { keyPrefix }: LiveViewOptions,
) {
  const hotKeys = new HotKeys(
    { random, pathOf: (increment) => pathOf(rates?.rules, increment) },
    keyPrefix,
  );
  const unmatched = new Unmatched(random);
  let isWatched = false;
  let watchers = 0;
  let batches = new BatchFigures();
  let rates: RuleRates | undefined;
  let takenMs = 0;
  let responseBefore: Float64Array | undefined;

  const follow = (): RuleRates | undefined => {
    const { current } = rules;
    if (current !== rates?.rules) {
      rates = current === undefined ? undefined : new RuleRates(current);
      // Both refer to rules that are no longer in force.
      hotKeys.clear();
      unmatched.clear();
    }
    return rates;
  };
  const responseCounts = () => registry.timers.get(RESPONSE_TIMER)?.counts.slice();

  return {
    /** The same counters, observed; store calls that were answered, or timed out, are timed. */
    watchCounters: (
      counters: Pick<ReadyCounters, 'add'>,
      kind: 'store' | 'local',
    ): Pick<ReadyCounters, 'add'> => ({
      add(batch) {
        if (!isWatched) return counters.add(batch);
        const startedMs = monotonicMs();
        const answered = (reply: unknown) => {
          if (kind === 'store' && gotAnswer(batch, reply)) batches.asked(monotonicMs() - startedMs);
        };
        const asked = counters.add(batch);
        if (!(asked instanceof Promise)) {
          hotKeys.record(batch, asked);
          return asked;
        }
        return asked.then(
          (reply) => {
            answered(reply);
            hotKeys.record(batch, reply);
            return reply;
          },
          (error: unknown) => {
            answered(error);
            throw error;
          },
        );
      },
    }),
    watchDecisions:
      (decide: Decide): Decide =>
      (pendingRequests) => {
        if (!isWatched) return decide(pendingRequests);
        const record = (batchStats: BatchStats): BatchStats => {
          batches.decided(pendingRequests.length, batchStats);
          rates?.record(batchStats);
          if (rules.current !== undefined) unmatched.record(rules.current, pendingRequests);
          return batchStats;
        };
        const decided = decide(pendingRequests);
        return decided instanceof Promise ? decided.then(record) : record(decided);
      },
    start() {
      watchers += 1;
      if (watchers > 1) return;
      isWatched = true;
      batches = new BatchFigures();
      takenMs = monotonicMs();
      responseBefore = responseCounts();
      follow();
    },
    stop() {
      watchers -= 1;
      if (watchers > 0) return;
      isWatched = false;
      rates = undefined;
      responseBefore = undefined;
      hotKeys.clear();
      unmatched.clear();
    },
    /** The rules of the figures; another object after a reload. */
    get tree(): RuleTree | undefined {
      return follow()?.tree;
    },
    /** The hottest counters now, after `seconds` of watching. */
    hot(seconds: number, most: number): HotFigures {
      // An open page advances the sketch itself.
      if (watchers === 1 || hotKeys.isUntimed) hotKeys.advance(seconds);
      follow();
      return {
        hot: hotViews(hotKeys.top(most, clock()), rates, clock()),
        hotError: hotKeys.errorPerSecond,
      };
    },
    /** The figures since the last call. */
    take(): LiveFigures {
      const nowMs = monotonicMs();
      // Two calls within one millisecond: avoids a division by zero.
      const seconds = Math.max((nowMs - takenMs) / 1_000, 0.001);
      takenMs = nowMs;
      const counts = responseCounts();
      const response = counts && quantilesSince(counts, responseBefore);
      responseBefore = counts;
      hotKeys.advance(seconds);
      const figures = {
        ...batchRates(batches, seconds),
        ...ruleRates(follow(), seconds),
        response,
        hot: hotViews(hotKeys.top(SHOWN_HOT_KEYS, clock()), rates, clock()),
        hotError: hotKeys.errorPerSecond,
        unmatched: unmatched.take(seconds),
        gauges: Object.fromEntries(
          [...registry.readGauges()].filter(([name]) => STORE_GAUGE.test(name)),
        ),
      };
      hotKeys.decay(seconds);
      return figures;
    },
  };
}

export type LiveView = ReturnType<typeof createLiveView>;

function batchRates(figures: BatchFigures, seconds: number) {
  const { batches, largest, store, ...totals } = figures.take();
  const requests = totals.requests / seconds;
  const exceptions = exceptionCounts((exception) => totals[exception] / seconds);
  const batch = batches === 0 ? undefined : { mean: totals.requests / batches, largest };
  return { requests, ...exceptions, batch, store };
}

function ruleRates(rates: RuleRates | undefined, seconds: number) {
  const per = ([hits, near, over, shadow]: Hits): Hits => [
    hits / seconds,
    near / seconds,
    over / seconds,
    shadow / seconds,
  ];
  const line = ([place, hits]: readonly [number, Hits]) => [place, ...per(hits)] as const;
  const taken = rates?.take();
  if (taken === undefined) return { rules: [], domains: [], hits: [0, 0, 0, 0] as const };
  const { rules, domains, total } = taken;
  return { rules: rules.map(line), domains: domains.map(line), hits: per(total) };
}

function hotViews(
  keys: readonly HotKey[],
  rates: RuleRates | undefined,
  nowSeconds: number,
): readonly HotKeyView[] {
  if (rates === undefined) return [];
  const ids = new Map<RuleLimit, number>();
  rates.tree.limits.forEach(({ limit }, id) => ids.set(limit, id));
  return keys.map((key) => {
    const { domain, entries, rule } = key.path;
    return {
      id: createHash('sha1').update(key.name).digest('base64url').slice(0, 16),
      domain: cutText(domain),
      entries,
      text: cutText(key.name.slice(domain.length + 1, -1)),
      rule: rule && ids.get(rule),
      perSecond: key.perSecond,
      value: key.value,
      isOver: key.isOver,
      isLeased: key.isLeased,
      limit: key.limit,
      burst: key.burst,
      per: key.per,
      resetsIn: Math.max(Math.ceil(key.windowEndSeconds - nowSeconds), 0),
      budget: key.budget,
    };
  });
}
