import { of, type Observable } from 'rxjs';
import type { Logger } from '../platform/logger/logger';
import type { StatisticsSettings } from '../settings/to-statistics';
import { createStatsLog } from '../stats/logging/create-stats-log';
import type { Registry } from '../stats/registry';
import { createStatsd } from '../stats/statsd/create-statsd';

/** Where statistics go; `run$` ends after `close` and a last flush. */
export interface StatisticsSink {
  readonly run$: Observable<unknown>;
  close(): void;
}

/** How long the last flush may take when the service stops. */
const LAST_FLUSH_MS = 1_000;

/** A server that takes longer to take a flush is away. */
const SEND_TIMEOUT_MS = 1_000;

const NO_SINK: StatisticsSink = { run$: of(), close: () => undefined };

/** The output that the settings name. Outputs that are not built yet count only: `/stats` shows them. */
export function chooseSink(
  { output, flushIntervalMs, statsd }: StatisticsSettings,
  registry: Registry,
  logger: Logger,
): StatisticsSink {
  const options = { flushIntervalMs, lastFlushWithinMs: LAST_FLUSH_MS };
  const deps = { registry, logger };
  switch (output) {
    case 'statsd':
      return createStatsd(deps, { ...options, ...statsd, timeoutMs: SEND_TIMEOUT_MS });
    case 'stdout':
      return createStatsLog({ ...deps, out: process.stdout, now: () => new Date() }, options);
    case 'tagged-statsd':
    case 'pull-metrics':
    case 'none':
      return NO_SINK;
  }
}
