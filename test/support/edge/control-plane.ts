import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from './eventually';
import { oneAtATime } from './one-at-a-time';

const SOURCE = join(__dirname, 'control-plane');
const CACHE = join(__dirname, '../../../.cache/bin');
const COMPILER = 'go';
const BUILD_MS = 300_000;

/** A request as the control plane saw it. */
export interface ClientRequest {
  readonly protocol: 'sotw' | 'delta';
  readonly stream: number;
  readonly typeUrl: string;
  readonly nodeId: string;
  readonly nodeMetadata?: Readonly<Record<string, unknown>>;
  readonly version?: string;
  readonly nonce?: string;
  readonly initialVersions?: Readonly<Record<string, string>>;
  readonly errorCode?: number;
  readonly error?: string;
}

/** A control plane on go-control-plane's server library, in a process of its own. */
export interface ControlPlane {
  readonly target: string;
  readonly requests: readonly ClientRequest[];
  /** Changes the resources, all in one step; a config is a `RateLimitConfig` in proto3 JSON. */
  change(command: {
    readonly set?: Readonly<Record<string, object>>;
    readonly remove?: readonly string[];
  }): void;
  /** Waits until so many requests have come and answers the newest of these. */
  requested(count: number): Promise<ClientRequest>;
  stop(): Promise<void>;
}

/**
 * The program, built once for each state of its source. Undefined where it cannot be built, said in one
 * line; in CI that is an error.
 */
export function controlPlaneOrNothing(): string | undefined {
  const hash = createHash('sha256');
  for (const file of ['main.go', 'go.mod', 'go.sum']) hash.update(readFileSync(join(SOURCE, file)));
  const program = join(CACHE, `control-plane-${hash.digest('hex').slice(0, 12)}`);
  mkdirSync(CACHE, { recursive: true });
  return oneAtATime(`${program}.lock`, () => (existsSync(program) ? program : build(program)));
}

function build(program: string): string | undefined {
  process.stderr.write('building a control plane for the tests …\n');
  const built = spawnSync(COMPILER, ['build', '-o', program, '.'], {
    cwd: SOURCE,
    encoding: 'utf8',
    timeout: BUILD_MS,
  });
  if (built.status === 0) return program;
  const reason = (built.error?.message ?? built.stderr).trim().split('\n').at(-1) ?? '';
  const message = `the control plane cannot be built: ${reason}`;
  if (process.env['CI'] !== undefined) throw new Error(message);
  process.stderr.write(`tests are left out: ${message}\n`);
  return undefined;
}

/** Starts it on a port, a free one by default, with these resources. */
export async function startControlPlane(
  program: string,
  set: Readonly<Record<string, object>>,
  port = 0,
): Promise<ControlPlane> {
  const child = spawn(program, ['-listen', `127.0.0.1:${String(port)}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const requests: ClientRequest[] = [];
  let target = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as ClientRequest | { readonly listening: string };
    if ('listening' in event) target = event.listening;
    else requests.push(event);
  });
  const change: ControlPlane['change'] = (command) => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
  };
  change({ set });
  await eventually(() => {
    if (target === '') throw new Error('the control plane does not listen');
  });
  return {
    target,
    requests,
    change,
    requested: (count) =>
      eventually(() => {
        const found = requests[count - 1];
        if (found !== undefined) return found;
        throw new Error(
          `${String(requests.length)} of ${String(count)}: ${JSON.stringify(requests)}`,
        );
      }),
    stop: () => stop(child),
  };
}

function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.stdin?.end();
  });
}
