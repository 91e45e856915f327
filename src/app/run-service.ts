import { systemClock, monotonicMs } from '../platform/clock';
import { createLogger } from '../platform/logger/create-logger';
import { readSettings } from '../settings/read-settings';
import { settingsHelp } from '../settings/settings-help';
import { createRegistry } from '../stats/registry';
import { banner } from './banner';
import { chooseCounters } from './choose-counters';
import { createApp, type App } from './create-app';
import { ruleLoads } from './rule-source';
import { startTracing } from './start-tracing';

/** How long a stop may take in all before the process ends without it: less than Kubernetes' usual 30 s. */
const STOP_WITHIN_MS = 25_000;

/** The service from its command line to its exit code: 0 after a stop, 1 after anything else. */
export async function runService(process: NodeJS.Process): Promise<void> {
  const { argv, env, stdout, stderr } = process;
  if (argv.slice(2).some((word) => ['--help', '-help', '-h'].includes(word))) {
    stdout.write(settingsHelp());
    return;
  }
  const read = readSettings(env);
  if (!read.ok) {
    stderr.write(`${read.problems.join('\n')}\nratelimit --help lists all settings\n`);
    process.exitCode = 1;
    return;
  }
  const { settings, warnings } = read;
  const logger = createLogger(settings.logging);
  const end = (code: number) => process.exit(code);
  const crash = (error: unknown) => {
    logger.error('ending because of a fault', { error });
    end(1);
  };
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);
  for (const warning of warnings) logger.warn(warning);

  const registry = createRegistry();
  const deps = { clock: systemClock, monotonicMs, random: Math.random, logger };
  const store = chooseCounters(settings, { ...deps, statistics: registry });
  const loads$ = ruleLoads(settings, deps);
  const tracing = startTracing(settings, { ...deps, statistics: registry });
  const app = createApp(settings, { ...deps, registry, store, loads$, tracing });
  stopOnSignals(process, app, end);
  app.done.catch(crash);

  const addresses = await app.listen();
  for (const [name, address] of Object.entries(addresses))
    logger.info(`listening for ${name} on ${String(address)}`);
  if (settings.logging.format === 'text') stdout.write(banner(addresses, store.description));
}

/** The first signal stops in order; a second one, or a stop that takes too long, ends at once. */
function stopOnSignals(process: NodeJS.Process, app: App, end: (code: number) => void): void {
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) {
      end(1);
      return;
    }
    isStopping = true;
    setTimeout(end, STOP_WITHIN_MS, 1).unref();
    void app.stop().then(() => {
      end(0);
    });
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
