import type * as Serve from './serve';
import { randomBytes } from 'node:crypto';
import { runCommand, usage } from '../../identity/provisioning/run-command';
import { completionOf } from '../../platform/flags';
import { endWithReader } from '../../platform/stdio';
import { hushServerNameWarning } from '../../platform/server-name';
import { createLogger } from '../../platform/logger';
import { findMisspelt, misspeltText } from '../../settings/tables';
import { type Settings, readSettings } from '../../settings/settings';
import { settingsHelp } from '../../settings/settings-help';
import { failStart } from '../process/run-process';
import { chooseIdentityStore, localName } from './choose-store';

const SERVE_USAGE = 'usage: identity [serve] [--help]\n';

/** The exit code of the commands for users and tokens, too. */
const WRONG_CALL = 2;

/** `identity` from its command line to its exit code; without words it serves. */
export async function runIdentity(process: NodeJS.Process): Promise<void> {
  hushServerNameWarning(process);
  const words = process.argv.slice(2);
  const [first = 'serve', second] = words;
  if (first !== 'serve' || second !== undefined) endWithReader(process);
  if (answerAtOnce(process, first, second)) return;
  const read = readSettings(process.env);
  if (!read.ok)
    failStart(process, read.problems.join('\n'), 'identity serve --help lists all settings');
  if (first === 'serve') await loadServe().serve(process, read.settings, read.warnings);
  else await provision(process, read.settings, words);
}

/** Help, completion, and arguments that `serve` does not accept need no settings; returns whether it was one of them. */
function answerAtOnce(process: NodeJS.Process, first: string, second: string | undefined): boolean {
  const isServe = first === 'serve';
  if (isHelp(first) || (isServe && isHelp(second))) {
    process.stdout.write(isServe ? serveHelp() : usage());
  } else if (first === '--completion' && second === 'bash') {
    process.stdout.write(completionOf('identity', usage()));
  } else if (isServe && second !== undefined) {
    process.stderr.write(`unknown argument ${JSON.stringify(second)}\n\n${SERVE_USAGE}`);
    process.exitCode = WRONG_CALL;
  } else return false;
  return true;
}

function isHelp(word: string | undefined): boolean {
  return ['--help', '-help', '-h', 'help'].includes(word ?? '');
}

function serveHelp(): string {
  const others =
    'LOG_LEVEL and LOG_FORMAT apply too. Limits that are counted in this process, and users in Redis, take the settings ' +
    'of the rules and of the store: ratelimit --help lists them.';
  return `${SERVE_USAGE}\n${settingsHelp('identity')}\n${others}\n`;
}

function loadServe(): typeof Serve {
  // A command for users and tokens does not wait until server, limits and metrics are loaded.
  return require('./serve') as typeof Serve;
}

async function provision(
  process: NodeJS.Process,
  settings: Settings,
  words: readonly string[],
): Promise<void> {
  for (const one of findMisspelt(process.env))
    process.stderr.write(`warning: ${misspeltText(one)}\n`);
  // The command itself reports its errors.
  const logger = createLogger({ level: 'fatal', format: 'text' });
  const store = chooseIdentityStore(settings, logger);
  await store.open();
  const { host, port } = settings.identity;
  const output = await runCommand(words, {
    store,
    nowMs: Date.now,
    randomBytes,
    readInput: () => readAll(process.stdin),
    baseUrl: `http://${localName(host)}:${String(port)}`,
  });
  await store.close();
  process.exitCode = output.exitCode;
  process.stdout.write(output.stdout);
  process.stderr.write(output.stderr);
}

async function readAll(input: AsyncIterable<Uint8Array | string>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}
