import { map } from 'rxjs';
import { firstTrueOrTimeout } from '../../streams';
import { usage as clientUsage } from '../cli/flags';
import { HASH_USAGE } from '../cli/hash-value';
import { USAGE as CHECK_USAGE } from '../rule-sources/check/options';
import { USAGE as SIMULATE_USAGE } from '../simulate/options';
import { completionOf } from '../platform/completion';
import { hushServerNameWarning } from '../platform/server-name';
import { createLogger } from '../platform/logger/create-logger';
import { readSettings } from '../settings/read-settings';
import { settingsHelp } from '../settings/settings-help';
import { runToCompletion } from './actors/actor';
import { banner } from './banner';
import { parseCommandLine, USAGE } from './command-line';
import { lazyRoles } from './lazy-roles';
import { packageVersion } from './package-version';
import { failStart, runProcess } from './run-process';
import { checkClientFiles } from './tls/check-client-files';
import { workerPlace } from './workers/messages';

/** How long a stop may take besides DRAIN_DELAY before the process ends without it: less than Kubernetes' usual 30 s. */
const STOP_WITHIN_MS = 25_000;

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
    case 'completion':
      stdout.write(completions());
      return;
    case 'mistake':
      stderr.write(`${command.message}\n\n${USAGE}\n`);
      process.exitCode = 2;
      return;
    case 'serve':
      await serve(process);
  }
}

/** Of all commands of this service; `identity` prints its own. */
function completions(): string {
  const helps = { ratelimit: USAGE, 'ratelimit-client': clientUsage() };
  const all = {
    ...helps,
    'ratelimit-config-check': CHECK_USAGE,
    'ratelimit-hash-value': HASH_USAGE,
    'ratelimit-simulate': SIMULATE_USAGE,
  };
  return Object.entries(all)
    .map(([command, help]) => completionOf(command, help))
    .join('');
}

async function serve(process: NodeJS.Process): Promise<void> {
  const place = workerPlace(process);
  if (place === undefined) await serveAll(process);
  else lazyRoles.worker().runWorker(process, place);
}

async function serveAll(process: NodeJS.Process): Promise<void> {
  hushServerNameWarning(process);
  const { env, stdout } = process;
  const read = readSettings(env);
  if (!read.ok) failStart(process, read.problems.join('\n'), 'ratelimit --help lists all settings');
  const { settings, warnings } = read;
  const { stores, rules } = settings.clientFiles;
  checkClientFiles([...stores, ...rules, ...(settings.tracing?.exporter.files ?? [])]);
  const plan = settings.workers === 1 ? undefined : lazyRoles.owner().planFor(settings);
  if (plan !== undefined) await lazyRoles.owner().clearSocket(settings);
  const logger = createLogger(settings.logging);
  const stopWithinMs = settings.health.drainDelayMs + STOP_WITHIN_MS;
  const start = { settings, warnings, logger };
  const app = runProcess(process, logger, stopWithinMs, () =>
    plan === undefined
      ? lazyRoles.alone().assembleAlone(start)
      : lazyRoles.owner().assembleOwner(start, plan),
  );
  const addresses = await app.listen();
  // A warning, as the first lines of the log, so that it is there at the default level.
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

/** How long the banner waits for rules from which to make lines to try. */
const BANNER_WAIT_MS = 5_000;
