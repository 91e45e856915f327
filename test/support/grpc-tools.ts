import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(__dirname, '../../.cache/bin');

/** Runs a program and answers what it printed on both outputs, whatever its exit code. */
export function run(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { timeout: 20_000, maxBuffer: 64 * 1024 * 1024 };
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

export const hasGo = spawnSync('go', ['version']).status === 0;

/** A program of a Go module, built once into the cache. */
export function goTool(module: string): string {
  const name = module.replace(/@.*$/, '').replace(/^.*\//, '');
  const program = join(FOLDER, name);
  if (existsSync(program)) return program;
  mkdirSync(FOLDER, { recursive: true });
  const built = spawnSync('go', ['install', module], {
    env: { ...process.env, GOBIN: FOLDER },
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`go install ${module} failed: ${built.stderr}`);
  return program;
}
