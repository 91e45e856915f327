import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { runIdentity } from '../../../src/app/identity/run-identity';
import { IdentityClient } from '../../../src/identity/client';
import { eventually } from './eventually';
import { freePort } from '../free-port';
import { expectNoSecretIn, rememberSecrets } from '../secrets';

const ROOT = join(__dirname, '../../..');
const BINARY = join(ROOT, 'dist/src/bin/identity.js');

type Env = Readonly<Record<string, string>>;

/** The built identity service in a process of its own. */
export interface IdentityProcess {
  readonly baseUrl: string;
  readonly metricsUrl: string;
  readonly pid: number | undefined;
  /** What `identity` needs to work on the same store and to name the same port. */
  readonly env: Env;
  output(): string;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

const running = new Set<ChildProcess>();

/** What the services of this test wrote. */
const outputs: (() => string)[] = [];

/** Ends what a failed test left behind, and looks for secrets in what was written; call it in `afterEach`. */
export async function stopIdentities(): Promise<void> {
  await Promise.all([...running].map((child) => stop(child, 'SIGKILL')));
  for (const output of outputs.splice(0)) expectNoSecretIn({ 'the log': output() });
}

/** Starts `dist/src/bin/identity.js` and waits until it answers. */
export async function startIdentityProcess(env: Env): Promise<IdentityProcess> {
  const [port, metricsPort] = await Promise.all([freePort(), freePort()]);
  const all = {
    PATH: process.env['PATH'] ?? '',
    IDENTITY_HOST: '127.0.0.1',
    IDENTITY_PORT: String(port),
    IDENTITY_METRICS_ADDR: `127.0.0.1:${String(metricsPort)}`,
    LOG_LEVEL: 'debug',
    ...env,
  };
  const child = spawn(process.execPath, [BINARY, 'serve'], {
    cwd: ROOT,
    env: all,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  const collect = (chunk: Buffer) => (output += chunk.toString());
  outputs.push(() => output);
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const baseUrl = `http://127.0.0.1:${String(port)}`;
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`the service ended at once:\n${output}`);
      await fetch(`${baseUrl}/`);
    },
    { withinMs: 20_000 },
  );
  return {
    baseUrl,
    metricsUrl: `http://127.0.0.1:${String(metricsPort)}`,
    env: all,
    pid: child.pid,
    output: () => output,
    stop: (signal = 'SIGTERM') => stop(child, signal),
  };
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
  // Not at its exit: what it printed last may still be on its way.
  const ended = once(child, 'close') as Promise<[number | null]>;
  child.kill(signal);
  const [code] = await ended;
  return code;
}

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one `identity` command in this process: what other tests prepare with takes no time to start. */
export async function identityCommand(
  env: Env,
  words: readonly string[],
  input = '',
): Promise<CliResult> {
  const printed = { stdout: '', stderr: '' };
  const printer = (to: keyof typeof printed) =>
    Object.assign(new EventEmitter(), { write: (text: string) => (printed[to] += text) });
  const process = Object.assign(new EventEmitter(), {
    argv: ['node', 'identity', ...words],
    env,
    exitCode: 0,
    stdin: Readable.from([Buffer.from(input)]),
    stdout: printer('stdout'),
    stderr: printer('stderr'),
  });
  await runIdentity(process as unknown as NodeJS.Process);
  return checked({ code: process.exitCode, ...printed });
}

/** Only standard output may hold secrets, and only once. */
function checked(result: CliResult): CliResult {
  rememberSecrets(result.stdout);
  expectNoSecretIn({ 'the errors': result.stderr });
  return result;
}

/** Runs one `identity` command of the built product. */
export function identityCli(env: Env, words: readonly string[], input = ''): Promise<CliResult> {
  return new Promise((resolve) => {
    const all = { PATH: process.env['PATH'] ?? '', ...env };
    const child = execFile(
      process.execPath,
      [BINARY, ...words],
      { env: all },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : Number(error.code ?? -1);
        resolve(checked({ code, stdout, stderr }));
      },
    );
    child.stdin?.end(input);
  });
}

/** How soon a change is seen; asking seldom enough not to be limited as one who guesses. */
export const within2s = (identity: IdentityProcess) => ({
  name: 'seen',
  belowMs: 2_000,
  everyMs: 250,
  of: [identity],
});

/** Adds a user and issues a token. */
export async function issue(env: Readonly<Record<string, string>>, user = 'ann'): Promise<string> {
  const added = await identityCommand(env, ['user', 'add', '--id', user, '--user-name', user]);
  expect(added).toEqual({ code: 0, stdout: `${user}\n`, stderr: '' });
  const issued = await identityCommand(env, ['token', 'issue', user, '--ttl', '10m']);
  expect(issued.code).toBe(0);
  return issued.stdout.trim();
}

export const clientOf = ({ baseUrl }: IdentityProcess, apiKey?: string) =>
  new IdentityClient({ baseUrl, ...(apiKey === undefined ? {} : { apiKey }) });

/** What the service answers to a token. */
export const statusOf = async (identity: IdentityProcess, token: string) => {
  const answer = await fetch(`${identity.baseUrl}/v1/userinfo`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  return answer.status;
};
