import { copyOf } from '../platform/copy-of';
import { TAG_START } from './naming';

/** Names of the statistics of decisions (behaviour.md §6). */
export const NAMES = {
  /** Followed by `.<domain>.<key_value>.<stat>`. */
  rules: 'ratelimit.service.rate_limit',
  /** Followed by `.<domain>`: descriptors that no rule of their domain matched. */
  unmatched: 'ratelimit.unmatched',
  serviceError: 'ratelimit.service.call.should_rate_limit.service_error',
  storeError: 'ratelimit.service.call.should_rate_limit.redis_error',
  storeTimeout: 'ratelimit.service.call.should_rate_limit.redis_timeout',
  breakerOpen: 'ratelimit.service.call.should_rate_limit.breaker_open',
  answeredLocally: 'ratelimit.service.call.should_rate_limit.answered_locally',
  /** Followed by `.<store>.time`: the time of its answer to a batch. */
  store: 'ratelimit.store',
  /** Decisions whose caller left before them. */
  abandoned: 'ratelimit.service.call.should_rate_limit.abandoned',
  globalShadowMode: 'ratelimit.service.global_shadow_mode',
  /** Counts of a series named `overflow`, for lack of room for one of its own. */
  overflow: 'ratelimit.statistics.overflow',
} as const;

/** A metric key is cut here: no file system, datagram or dashboard accepts more. */
export const MAX_METRIC_LENGTH = 2048;

/** Characters that would end a name or its line in StatsD, or that some readers of lines take for an end. */
const UNSAFE = /[:|\p{Cc}\p{Zl}\p{Zp}]/gu;
/** As in the reference: anywhere, from left to right. */
const IPV4 = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}/g;

/**
 * A metric key from a rule file or a request, made safe as a part of a name: it cannot start another line, value or tag
 * (behaviour.md §6.2). One longer than `MAX_METRIC_LENGTH` is cut first.
 */
export function cleanName(metric: string): string {
  const name = cutMetric(metric).replace(UNSAFE, '_');
  // A copy: a name lives as long as its series, and must keep no request alive.
  return copyOf(withoutTags(name.replace(IPV4, (ip) => ip.replaceAll('.', '_'))));
}

function withoutTags(name: string): string {
  const start = name.indexOf(TAG_START);
  if (start < 0) return name;
  return name.slice(0, start) + name.slice(start).replaceAll('=', '_');
}

/** A metric key cut to `MAX_METRIC_LENGTH`; a cut one is a copy, which keeps no request alive. */
export function cutMetric(metric: string): string {
  if (metric.length <= MAX_METRIC_LENGTH) return metric;
  return copyOf(metric.slice(0, MAX_METRIC_LENGTH));
}
