import { of } from 'rxjs';
import type { Snapshot } from '../../streams';
import type { Rules } from '../core/rules/rules';
import type { HttpLimits } from '../platform/http-listener';
import type { Logger } from '../platform/logger/logger';
import type { StatisticsSettings } from '../settings/statistics';
import { createStatsLog } from '../stats/logging/create-stats-log';
import { createPlainNaming } from '../stats/naming';
import type { Registry } from '../stats/registry';
import { createStatsd } from '../stats/statsd/create-statsd';
import { createTaggedNaming } from '../stats/tagged-statsd/tagged-naming';
import type * as ScrapeSink from './scrape-sink';
import type { StatisticsSink } from './statistics-sink';

/** How long the last flush may take when the service stops. */
const LAST_FLUSH_MS = 1_000;

/** A server that takes longer to take a flush is away. */
const SEND_TIMEOUT_MS = 1_000;

const NO_SINK: StatisticsSink = { run$: of(), close: () => undefined };

export interface SinkDeps {
  readonly registry: Registry;
  readonly logger: Logger;
  readonly rules: Snapshot<Rules | undefined>;
  /** Of the port that is scraped. */
  readonly limits: HttpLimits;
}

/** The output that the settings name, and the bound on what it has to tell. */
export function chooseSink(
  settings: StatisticsSettings,
  { registry, logger, rules, limits }: SinkDeps,
): StatisticsSink {
  const { output, flushIntervalMs, statsd, extraTags, maxSeries } = settings;
  registry.limitSeries({
    maxSeries,
    onFull: () => {
      const what = 'there is no room for more series of statistics, what comes now is summed in';
      logger.warn(`${what} series named overflow (STATS_MAX_SERIES)`, { maxSeries });
    },
  });
  const options = { flushIntervalMs, lastFlushWithinMs: LAST_FLUSH_MS };
  const { isAsked, ...target } = statsd;
  const server = { ...options, ...target, isOptional: !isAsked, timeoutMs: SEND_TIMEOUT_MS };
  const deps = { registry, logger };
  switch (output) {
    case 'statsd':
      return createStatsd(deps, { ...server, naming: createPlainNaming(extraTags) });
    case 'tagged-statsd': {
      const naming = createTaggedNaming({ rules: settings.mogrifiers, extraTags });
      return createStatsd(deps, { ...server, naming });
    }
    case 'stdout': {
      const out = { out: process.stdout, now: () => new Date() };
      return createStatsLog({ ...deps, ...out, naming: createPlainNaming(extraTags) }, options);
    }
    case 'pull-metrics':
      return loadScrapeSink().createScrapeSink(settings, { ...deps, rules, limits });
    case 'none':
      return NO_SINK;
  }
}

/** Its library costs the start of a service that is not scraped nothing. */
function loadScrapeSink(): typeof ScrapeSink {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('./scrape-sink') as typeof ScrapeSink;
}
