import { EMPTY, tap } from 'rxjs';
import type { StatisticsSettings } from '../../settings/statistics';
import { createPlainNaming, createTaggedNaming } from '../../stats/names';
import type { Flush, PushOutput } from '../../stats/push-output';
import { createStatsLog } from '../../stats/stats-log';
import { createStatsd } from '../../stats/statsd/create-statsd';
import type { OutageLog } from '../outage-log';
import { withEnd, type Actor } from '../actor';
import type * as ScrapeSink from './scrape-sink';
import type { ScrapeSinkDeps } from './scrape-sink';

const loadScrapeSink = () => require('./scrape-sink') as typeof ScrapeSink;

/** Time limit of the last flush when the service stops. */
const LAST_FLUSH_MS = 1_000;

/** A server that takes longer for a flush is unreachable. */
const SEND_TIMEOUT_MS = 1_000;

export interface StatisticsDeps extends ScrapeSinkDeps {
  readonly outages: Pick<OutageLog, 'failed' | 'succeeded'>;
}

/** The output that the settings name, and the bound on the series of the registry. */
export function createStatisticsActor(settings: StatisticsSettings, deps: StatisticsDeps) {
  const { maxSeries } = settings;
  deps.registry.limitSeries({
    maxSeries,
    onFull: () => {
      const what = 'the number of statistics series is at its limit, further ones are summed in';
      deps.logger.warn(`${what} series named overflow (STATS_MAX_SERIES)`, { maxSeries });
    },
  });
  const output = chooseOutput(settings, deps);
  const { run$, ended } = withEnd(output.run$);
  return {
    run$,
    /** Settles after a last flush. */
    close() {
      output.close();
      return ended;
    },
  };
}

function chooseOutput(settings: StatisticsSettings, deps: StatisticsDeps): Actor {
  const { output, flushIntervalMs, statsd, extraTags, mogrifiers } = settings;
  const { registry } = deps;
  const options = { flushIntervalMs, lastFlushWithinMs: LAST_FLUSH_MS };
  const { isAsked, ...target } = statsd;
  const server = { ...options, ...target, timeoutMs: SEND_TIMEOUT_MS };
  const plain = createPlainNaming(extraTags);
  switch (output) {
    case 'statsd':
      return reported(createStatsd(registry, { ...server, naming: plain }), deps, isAsked);
    case 'tagged-statsd': {
      const naming = createTaggedNaming({ rules: mogrifiers, extraTags });
      return reported(createStatsd(registry, { ...server, naming }), deps, isAsked);
    }
    case 'stdout': {
      const log = { registry, out: process.stdout, now: () => new Date(), naming: plain };
      return reported(createStatsLog(log, options), deps, true);
    }
    case 'pull-metrics':
      return loadScrapeSink().createScrapeSink(settings, deps);
    case 'none':
      return { run$: EMPTY, close: () => undefined };
  }
}

/** The name of the outage. */
const STATISTICS = 'statistics';

/**
 * The same output, with failing flushes reported as an outage. `isAsked` is false where no setting names the server: until its
 * first success, its absence is normal.
 */
function reported(
  output: PushOutput,
  { outages, logger }: Pick<StatisticsDeps, 'outages' | 'logger'>,
  isAsked: boolean,
): Actor {
  const lines = {
    level: 'warn',
    failing: `statistics cannot be written to ${output.target}, they are kept and sent later`,
    ended: `statistics are written to ${output.target} again`,
  } as const;
  let isExpected = isAsked;
  const report = ({ lines: written, error }: Flush): void => {
    if (error !== undefined) {
      const fields = { reason: error.message };
      if (isExpected) outages.failed(STATISTICS, lines, fields);
      else logger.debug(lines.failing, fields);
    } else if (written > 0) {
      isExpected = true;
      outages.succeeded(STATISTICS);
    }
  };
  return { run$: output.run$.pipe(tap(report)), close: output.close };
}
