import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { SERVICE_CORE } from './e2e-service';

type Env = Readonly<Record<string, string>>;

const SCRIPT = join(process.cwd(), process.env['WEIR_DIST'] ?? 'dist', 'src/bin/identity.js');

/** The built identity service, alone on its core. */
export interface MeasuredIdentity {
  readonly pid: number;
  readonly url: string;
  /** Waits until the service has seen a token that was just made. */
  untilKnown(token: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startMeasuredIdentity(env: Env): Promise<MeasuredIdentity> {
  const port = await freePort();
  const more = process.env['WEIR_NODE_ARGS']?.split(' ') ?? [];
  const words = ['-c', String(SERVICE_CORE), process.execPath, ...more, SCRIPT, 'serve'];
  const child = spawn('taskset', words, {
    env: {
      PATH: process.env['PATH'],
      IDENTITY_HOST: '127.0.0.1',
      IDENTITY_PORT: String(port),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'exit');
  const url = `http://127.0.0.1:${String(port)}`;
  const expectStatus = (status: number, headers: Env = {}) =>
    eventually(
      async () => {
        if (child.exitCode !== null) throw new Error('the service ended at once');
        const answer = await fetch(`${url}/v1/userinfo`, { headers });
        if (answer.status !== status) throw new Error(`it answers ${String(answer.status)}`);
      },
      { withinMs: 20_000, everyMs: 100 },
    );
  await expectStatus(401);
  return {
    pid: child.pid as number,
    url,
    untilKnown: (token) => expectStatus(200, { Authorization: `Bearer ${token}` }),
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** A user and a token, as an operator makes them. */
export function issueToken(env: Env): string {
  const all = { PATH: process.env['PATH'], ...env };
  const output = execFileSync(process.execPath, [SCRIPT, 'demo'], { env: all, encoding: 'utf8' });
  return output.split('\n')[0] ?? '';
}
