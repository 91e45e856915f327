import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../../..');
const run = promisify(execFile);

/** What somebody has who installed the package: its files, and a folder for programs of their own. */
export interface PackedPackage {
  /** The files of the package. */
  readonly files: string;
  /** A program that stands beside `node_modules/weir`; answers what it printed. */
  play(file: string, text: string, options?: PlayOptions): Promise<string>;
  /** Makes a package of this repository one that they have installed too. */
  link(name: string): Promise<void>;
  unlink(name: string): Promise<void>;
  /** Checks the types of programs; answers what the compiler printed. */
  check(files: Readonly<Record<string, string>>, types?: readonly string[]): Promise<string>;
  remove(): Promise<void>;
}

export interface PlayOptions {
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Packs the package as it is built, and unpacks it where nothing else is. */
export async function unpackPackage(): Promise<PackedPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-packed-'));
  const app = join(folder, 'app');
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', words, { cwd: ROOT });
  const [{ filename = '' } = {}] = JSON.parse(stdout) as { readonly filename?: string }[];
  await run('tar', ['-xzf', filename], { cwd: folder });
  await mkdir(join(app, 'node_modules'), { recursive: true });
  await cp(join(folder, 'package'), join(app, 'node_modules/weir'), { recursive: true });
  const linked = (name: string) => join(app, 'node_modules', name);
  return {
    files: join(folder, 'package'),
    async play(file, text, { flags = [], env = {} } = {}) {
      await writeFile(join(app, file), text);
      const options = { cwd: app, env: { PATH: process.env['PATH'], ...env }, timeout: 60_000 };
      return (await run(process.execPath, [...flags, file], options)).stdout;
    },
    link: (name) => symlink(join(ROOT, 'node_modules', name), linked(name)),
    unlink: (name) => rm(linked(name), { force: true }),
    async check(files, types = []) {
      for (const [file, text] of Object.entries(files)) await writeFile(join(app, file), text);
      const compilerOptions = {
        ...{ module: 'node16', strict: true, exactOptionalPropertyTypes: true, noEmit: true },
        ...{ lib: ['ES2023', 'DOM'], types, target: 'ES2022' },
      };
      const project = { compilerOptions, files: Object.keys(files) };
      await writeFile(join(app, 'tsconfig.json'), JSON.stringify(project));
      const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
      const failed = (error: unknown) => error as { readonly stdout: string };
      return (await run(process.execPath, [compiler, '-p', app]).catch(failed)).stdout;
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
