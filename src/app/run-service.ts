import { map } from 'rxjs';
import { firstTrueOrTimeout } from '../../streams';
import type { Environment } from '../platform/env-table/table';
import { hushServerNameWarning } from '../platform/server-name';
import { createLogger } from '../platform/logger';
import { readSettings } from '../settings/settings';
import { runToCompletion } from './actor';
import { banner } from './process/banner';
import { parseCommandLine, USAGE } from './process/command-line';
import { packageVersion } from '../platform/package';
import { endWithReader } from '../platform/stdio';
import { failStart, runProcess } from './process/run-process';
import { checkClientFiles } from './tls/check-client-files';
import { workerPlace } from './workers/messages';
import type * as Help from './help';
import type * as RunAlone from './run-alone';
import type * as RunOwner from './workers/pool/run-owner';
import type * as StartWorkers from './workers/pool/start-workers';
import type * as RunWorker from './workers/worker/run-worker';

/** The roles of a process: the only one, the owner of several workers, one of these, or one that explains itself. */
const lazyRoles = {
  help: () => require('./help') as typeof Help,
  alone: () => require('./run-alone') as typeof RunAlone,
  owner: () => require('./workers/pool/run-owner') as typeof RunOwner,
  workers: () => require('./workers/pool/start-workers') as typeof StartWorkers,
  worker: () => require('./workers/worker/run-worker') as typeof RunWorker,
};

/** Time limit of a stop besides DRAIN_DELAY: less than Kubernetes' usual 30 s. */
const STOP_WITHIN_MS = 25_000;

/**
 * The service from its command line to its exit code: 0 after a stop, 2 after a wrong argument, 1 after anything else. `given` is
 * the environment as the operator wrote it.
 */
export async function runService(
  process: NodeJS.Process,
  given: Environment = process.env,
): Promise<void> {
  const { argv, stdout, stderr } = process;
  const command = parseCommandLine(argv.slice(2), given);
  if (command.kind !== 'serve') endWithReader(process);
  switch (command.kind) {
    case 'help':
      stdout.write(lazyRoles.help().helpText());
      return;
    case 'version':
      stdout.write(`ratelimit ${packageVersion()}, node ${process.version}\n`);
      return;
    case 'completion':
      stdout.write(lazyRoles.help().completions());
      return;
    case 'mistake':
      stderr.write(`${command.message}\n\n${USAGE}\n`);
      process.exitCode = 2;
      return;
    case 'serve':
      await serve(process, command.warning);
  }
}

async function serve(process: NodeJS.Process, warning: string | undefined): Promise<void> {
  const place = workerPlace(process);
  if (place === undefined) await serveAll(process, warning);
  else lazyRoles.worker().runWorker(process, place);
}

async function serveAll(process: NodeJS.Process, warning: string | undefined): Promise<void> {
  hushServerNameWarning(process);
  const { env, stdout } = process;
  const read = readSettings(env);
  if (!read.ok) failStart(process, read.problems.join('\n'), 'ratelimit --help lists all settings');
  const { settings } = read;
  const warnings = [...(warning === undefined ? [] : [warning]), ...read.warnings];
  const { stores, rules } = settings.clientFiles;
  checkClientFiles([...stores, ...rules, ...(settings.tracing?.exporter.files ?? [])]);
  const logger = createLogger(settings.logging);
  const stopWithinMs = settings.health.drainDelayMs + STOP_WITHIN_MS;
  const start = { settings, warnings, logger };
  const workers =
    settings.workers === 1 ? undefined : await lazyRoles.workers().startWorkers(settings);
  const app = runProcess(process, logger, stopWithinMs, () =>
    workers === undefined
      ? lazyRoles.alone().assembleAlone(start)
      : lazyRoles.owner().assembleOwner(start, workers),
  );
  const addresses = await app.listen();
  // A warning, like the first lines of the log, so that it is logged at the default level.
  for (const [name, address] of Object.entries({
    gRPC: addresses.grpc,
    HTTP: addresses.http,
    debug: addresses.debug,
  }))
    logger.warn(`listening for ${name} on ${address}`);
  if (settings.logging.format === 'text' && stdout.isTTY) {
    const areRead$ = app.rules.changes$.pipe(map((current) => current !== undefined));
    await runToCompletion(firstTrueOrTimeout(areRead$, BANNER_WAIT_MS));
    stdout.write(banner(addresses, app.storeName, app.rules.current));
  }
}

/** How long the banner waits for rules to take examples from. */
const BANNER_WAIT_MS = 5_000;
