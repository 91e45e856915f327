import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { oneAtATime } from './one-at-a-time';

const CACHE = join(__dirname, '../../../.cache');
/** Caddy takes minutes to compile. */
const INSTALL_MS = 900_000;

/** Runs a program and answers what it printed on both outputs, whatever its exit code. */
export function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { timeout: 60_000, maxBuffer: 64 * 1024 * 1024 };
    execFile(program, args, options, (error, stdout, stderr) => {
      resolve(`${stdout}${stderr}${error === null ? '' : `\n${error.message}`}`);
    });
  });
}

/** A program of the system; fails with the one line that says what to install. */
export function findTool(name: string, debianPackage: string): string {
  const found = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' });
  if (found.status === 0) return found.stdout.trim();
  throw new Error(`${name} is not installed: apt-get install ${debianPackage}`);
}

/**
 * A program of a Go module, built once into the cache. Undefined where it cannot be had, said in one line; in CI that
 * is an error.
 */
export function goToolOrNothing(module: string): string | undefined {
  const name = module.replace(/(\/v\d+)?@.*$/, '').replace(/^.*\//, '');
  const folder = join(CACHE, 'bin');
  const program = join(folder, name);
  mkdirSync(folder, { recursive: true });
  return oneAtATime(`${program}.lock`, () =>
    existsSync(program)
      ? program
      : install(name, program, [['go', ['install', module], { GOBIN: folder }]]),
  );
}

/** A program of PyPI packages in a virtual environment of its own; else as `goToolOrNothing`. */
export function pythonToolOrNothing(
  environment: string,
  program: string,
  packages: readonly string[],
): string | undefined {
  const folder = join(CACHE, environment);
  const path = join(folder, 'bin', program);
  const isDone = join(folder, 'installed');
  const pip = ['install', '--quiet', '--no-cache-dir', '--only-binary=:all:', ...packages];
  mkdirSync(CACHE, { recursive: true });
  return oneAtATime(`${folder}.lock`, () =>
    existsSync(isDone)
      ? path
      : install(environment, path, [
          ['python3', ['-m', 'venv', folder]],
          [join(folder, 'bin/pip'), pip],
          ['touch', [isDone]],
        ]),
  );
}

type Step = readonly [program: string, args: readonly string[], env?: Readonly<NodeJS.ProcessEnv>];

function install(name: string, path: string, steps: readonly Step[]): string | undefined {
  process.stderr.write(`installing ${name} for the tests …\n`);
  for (const [program, args, env] of steps) {
    const done = spawnSync(program, args, {
      env: { ...process.env, ...env },
      encoding: 'utf8',
      timeout: INSTALL_MS,
    });
    if (done.status === 0) continue;
    const [reason = ''] = (done.error?.message ?? done.stderr).trim().split('\n').slice(-1);
    const message = `${name} cannot be installed by ${program} ${args.join(' ')}: ${reason}`;
    if (process.env['CI'] !== undefined) throw new Error(message);
    process.stderr.write(`tests are left out: ${message}\n`);
    return undefined;
  }
  return path;
}
