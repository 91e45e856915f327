import { map, type Observable } from 'rxjs';
import { fromSignals, orderlyStop, type StopEnd } from '../../streams';
import { systemClock, monotonicMs } from '../platform/clock';
import { hushServerNameWarning } from '../platform/hush-server-name';
import { createLogger } from '../platform/logger/create-logger';
import type { Logger } from '../platform/logger/logger';
import { readSettings } from '../settings/read-settings';
import type { Settings } from '../settings/settings';
import { settingsHelp } from '../settings/settings-help';
import { createRegistry } from '../stats/registry';
import { banner } from './banner';
import { chooseCounters } from './choose-counters';
import { parseCommandLine, USAGE } from './command-line';
import { createApp, type App } from './create-app';
import { createOutageLog } from './outage-log';
import { packageVersion } from './package-version';
import { describeRuleSource, ruleLoads } from './rule-source';
import { startTracing } from './start-tracing';
import { checkClientFiles } from './tls/check-client-files';

/** How long a stop may take besides DRAIN_DELAY before the process ends without it: less than Kubernetes' usual 30 s. */
const STOP_WITHIN_MS = 25_000;

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** 1 for what did not end in order. */
const EXIT_CODES: Readonly<Record<StopEnd, number>> = { stopped: 0, interrupted: 1, late: 1 };

/** The service from its command line to its exit code: 0 after a stop, 2 after a wrong argument, 1 after anything else. */
export async function runService(process: NodeJS.Process): Promise<void> {
  const { argv, stdout, stderr } = process;
  const command = parseCommandLine(argv.slice(2));
  switch (command.kind) {
    case 'help':
      stdout.write(`${USAGE}\n\n${settingsHelp('ratelimit')}`);
      return;
    case 'version':
      stdout.write(`ratelimit ${packageVersion()}, node ${process.version}\n`);
      return;
    case 'mistake':
      stderr.write(`${command.message}\n\n${USAGE}\n`);
      process.exitCode = 2;
      return;
    case 'serve':
      await serve(process);
  }
}

async function serve(process: NodeJS.Process): Promise<void> {
  hushServerNameWarning(process);
  const { env, stdout, stderr } = process;
  const read = readSettings(env);
  if (!read.ok) {
    stderr.write(`${read.problems.join('\n')}\nratelimit --help lists all settings\n`);
    process.exitCode = 1;
    return;
  }
  const { settings, warnings } = read;
  checkClientFiles([...settings.clientFiles.stores, ...settings.clientFiles.rules]);
  const logger = createLogger(settings.logging);
  const crash = (error: unknown) => {
    logger.error('ending because of a fault', { error });
    process.exit(1);
  };
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);

  const registry = createRegistry();
  const deps = { clock: systemClock, monotonicMs, random: Math.random, logger };
  const store = chooseCounters(settings, { ...deps, statistics: registry });
  // Warnings, so that they are there at the default level.
  logger.warn(`starting weir ${packageVersion()}`, {
    node: process.version,
    rules: describeRuleSource(settings),
    counters: store.description,
  });
  for (const warning of warnings) logger.warn(warning);
  const outages = createOutageLog(deps);
  const loads$ = ruleLoads(settings, { ...deps, outages });
  const tracing = startTracing(settings, { ...deps, statistics: registry });
  const app = createApp(settings, { ...deps, registry, store, loads$, outages, tracing });
  stopOnSignals(process, app, settings, logger).subscribe((code) => process.exit(code));
  app.done.catch(crash);

  const addresses = await app.listen();
  for (const [name, address] of Object.entries(addresses))
    logger.info(`listening for ${name} on ${String(address)}`);
  if (settings.logging.format === 'text' && stdout.isTTY)
    stdout.write(banner(addresses, store.description, app.rules.current));
}

/** Emits the exit code. The first signal stops in order; a second one, or a stop that takes too long, ends at once. */
function stopOnSignals(
  process: NodeJS.Process,
  app: App,
  { health }: Settings,
  logger: Logger,
): Observable<number> {
  return orderlyStop({
    signals$: fromSignals(process, SIGNALS),
    stop(signal) {
      logger.warn(`stopping on ${signal}`);
      return app.stop();
    },
    withinMs: health.drainDelayMs + STOP_WITHIN_MS,
  }).pipe(
    map((end) => {
      logger.warn(ENDS[end]);
      return EXIT_CODES[end];
    }),
  );
}

const ENDS: Readonly<Record<StopEnd, string>> = {
  stopped: 'stopped',
  interrupted: 'ended by a second signal, before everything was answered',
  late: 'ended because the stop took too long',
};
