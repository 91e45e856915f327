import { defer, merge } from 'rxjs';
import type { Snapshot } from '../../streams';
import type { Rules } from '../core/rules/rules';
import { createHttpListener, type HttpLimits } from '../platform/http-listener';
import { addressText, listenAt } from '../platform/listen-address';
import type { Logger } from '../platform/logger/logger';
import type { StatisticsSettings } from '../settings/statistics';
import { createPullMetrics } from '../stats/prometheus/create-pull-metrics';
import { createProcessMetrics } from '../stats/prometheus/process-metrics';
import { readMapping } from '../stats/prometheus/read-mapping';
import type { Registry } from '../stats/registry';
import { createBuildReadings } from './build-readings';
import type { StatisticsSink } from './statistics-sink';

export interface ScrapeSinkDeps {
  readonly registry: Registry;
  readonly logger: Logger;
  /** Undefined: the hash of the rules is not shown. */
  readonly rules: Snapshot<Rules | undefined> | undefined;
  readonly limits: HttpLimits;
}

const SETTINGS = { host: 'PULLMETRICS_ADDR', port: 'PULLMETRICS_ADDR' };

/** How long a scrape may go on when the service stops. */
const LAST_SCRAPE_MS = 1_000;

/** The port that is scraped (`USE_PULLMETRICS`). A port that cannot be had ends the service. */
export function createScrapeSink(
  { extraTags, pullMetrics }: StatisticsSettings,
  { registry, logger, rules, limits }: ScrapeSinkDeps,
): StatisticsSink {
  const { host = '', port, path, mapperFile, responseTimeAsMilliseconds } = pullMetrics;
  const ofProcess = createProcessMetrics();
  const ofIdentity = createBuildReadings(rules, limits);
  const handle = createPullMetrics(
    { registry, logger, readings: async () => [...ofIdentity(), ...(await ofProcess.read())] },
    {
      path,
      mapping: readMapping(mapperFile, { logger, inMilliseconds: responseTimeAsMilliseconds }),
      extraTags,
    },
  );
  const listener = createHttpListener(
    // What shows an overload is bounded by itself, and must be seen during one.
    { handle, isVital: () => true },
    { host, port, limits },
  );
  const listen = async () => {
    const address = addressText(await listenAt(listener, SETTINGS));
    logger.info(`listening for scrapes on ${address}${path}`);
  };
  return {
    run$: merge(listener.run$, defer(listen)),
    close() {
      ofProcess.close();
      void listener.close(LAST_SCRAPE_MS);
    },
  };
}
