import { merge, Subscription } from 'rxjs';
import { createStatisticsActor } from '../../../../src/app/observe/statistics';
import { createOutageLog } from '../../../../src/app/outage-log';
import { readSettings } from '../../../../src/settings/settings';
import { createRegistry } from '../../../../src/stats/registry';
import { createSnapshot } from '../../../../streams';
import { httpLimits } from '../../../support/http-limits';
import { createRecordingLogger } from '../../../support/recording-logger';

let subscription = Subscription.EMPTY;
beforeEach(() => jest.useFakeTimers());
afterEach(() => {
  subscription.unsubscribe();
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** Statistics on standard output, flushed each second; it takes them while `isBroken` is false. */
function start() {
  const read = readSettings({
    BACKEND_TYPE: 'memory',
    USE_STATSD: 'false',
    STATS_FLUSH_INTERVAL: '1s',
  });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const out = { isBroken: true };
  const write = (_: unknown, done: unknown) => {
    (done as (error?: Error) => void)(out.isBroken ? new Error('write EPIPE') : undefined);
    return true;
  };
  jest.spyOn(process.stdout, 'write').mockImplementation(write);
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  const outages = createOutageLog({ logger, monotonicMs: () => jest.now() });
  const rules = createSnapshot(undefined);
  const limits = httpLimits();
  const rulesVersion = () => undefined;
  const deps = { registry, logger, outages, rules, rulesVersion, limits };
  const statistics = createStatisticsActor(read.settings.statistics, deps);
  subscription = merge(outages.run$, statistics.run$).subscribe();
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      registry.count('hits', 1);
      await jest.advanceTimersByTimeAsync(1_000);
    }
  };
  const said = () =>
    lines.map(({ level, message, fields }): Record<string, unknown> => ({
      level,
      message,
      ...fields,
    }));
  return { out, outages, pass, said };
}

it('warns once that statistics cannot be written, then once a minute how many flushes failed, then that they can', async () => {
  const { out, outages, pass, said } = start();
  await pass(90);
  expect(outages.open().map(({ name }) => name)).toEqual(['statistics']);
  out.isBroken = false;
  await pass(5);
  const away = 'statistics cannot be written to standard output, they are kept and sent later';
  const level = 'warn';
  const [first, later, end, ...others] = said();
  expect(first).toEqual({ level, message: away, reason: 'write EPIPE', failures: 1 });
  expect(later).toMatchObject({ level, message: away, reason: 'write EPIPE', seconds: 60 });
  expect(later?.['failures']).toBeGreaterThanOrEqual(59);
  expect(end).toMatchObject({ level, message: 'statistics are written to standard output again' });
  expect(end?.['failures']).toBeGreaterThanOrEqual(89);
  expect(others).toEqual([]);
  expect(outages.open()).toEqual([]);
});
