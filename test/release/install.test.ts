import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFile,
  chmod,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
} from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import { readSettings } from '../../src/settings/settings';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { linkNodeModules } from '../support/edge/link-node-modules';
import { nodeBinary } from '../support/edge/node-binary';

const ROOT = join(__dirname, '../..');
const run = promisify(execFile);

/** The instructions of one kind, stage by stage. */
async function readDockerfile(): Promise<readonly (readonly string[])[]> {
  const text = await readFile(join(ROOT, 'Dockerfile'), 'utf8');
  const lines = text.replace(/\\\n\s*/g, ' ').split('\n');
  const stages: string[][] = [];
  for (const line of lines) {
    if (line.startsWith('FROM ')) stages.push([]);
    stages.at(-1)?.push(line);
  }
  return stages;
}

/** Sources and target of the COPY instructions of a stage. */
function copies(stage: readonly string[] | undefined, from: 'context' | 'build') {
  return (stage ?? [])
    .filter(
      (line) => line.startsWith('COPY ') && line.includes('--from=build') === (from === 'build'),
    )
    .map((line) => {
      const words = line.split(/\s+/).slice(from === 'build' ? 2 : 1);
      return { sources: words.slice(0, -1), target: words.at(-1) ?? '' };
    });
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-install-'));
});
afterAll(() => rm(folder, { recursive: true }));

it('copies only files that exist', async () => {
  const stages = await readDockerfile();
  expect(stages).toHaveLength(2);
  for (const stage of stages)
    for (const { sources } of copies(stage, 'context'))
      for (const source of sources)
        expect([source, existsSync(join(ROOT, source))]).toEqual([source, true]);
});

/** The words of an instruction that a stage has once. */
function only(stage: readonly string[] | undefined, name: string): string {
  const found = (stage ?? []).filter((line) => line.startsWith(`${name} `));
  expect(found).toHaveLength(1);
  return found[0]?.slice(name.length + 1).trim() ?? '';
}

/** `A=b C="d e"`, as ENV and LABEL write pairs. */
const pairs = (text: string) =>
  Object.fromEntries(
    [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)].map(
      ([, key = '', quoted, bare]) => [key, quoted ?? bare ?? ''] as const,
    ),
  );

it('runs as a numbered user who is not root, starts the service by its entry point and starts no second Node', async () => {
  const [, last] = await readDockerfile();
  expect(only(last, 'USER')).toBe('65532:65532');
  expect(JSON.parse(only(last, 'ENTRYPOINT'))).toEqual(['/bin/ratelimit']);
  expect(last?.filter((line) => /^(HEALTHCHECK|CMD)/.test(line))).toEqual([]);
  expect(only(last, 'EXPOSE').split(' ')).toEqual(['8080', '8081', '6070', '8082', '9090']);
  expect(only(last, 'VOLUME')).toBe(dirname(pairs(only(last, 'ENV'))['IDENTITY_STORE_FILE'] ?? ''));
  expect(Object.keys(pairs(only(last, 'LABEL')))).toContain('org.opencontainers.image.licenses');
});

it('the composition gives it a read-only root and settings that it takes', async () => {
  const compose = parse(await readFile(join(ROOT, 'docker-compose.yml'), 'utf8')) as {
    readonly services: Readonly<
      Record<string, { readonly read_only?: boolean; readonly environment: NodeJS.ProcessEnv }>
    >;
  };
  const { ratelimit } = compose.services;
  expect(ratelimit?.read_only).toBe(true);
  expect(readSettings(ratelimit?.environment ?? {})).toMatchObject({ ok: true, warnings: [] });
});

it('installs, builds and starts in an empty folder from what the image copies', async () => {
  const [build, last] = await readDockerfile();
  const app = join(folder, 'build');
  const root = join(folder, 'root');
  const image = join(root, 'app');
  await copyAll(copies(build, 'context'), (source) => join(ROOT, source), app);
  await runAll(build ?? [], app);
  await copyAll(copies(last, 'build'), (source) => join(app, source.replace('/app/', '')), image);
  await copyAll(copies(last, 'context'), (source) => join(ROOT, source), image);
  // What stands for `/` of the image: a root of our own would need its libraries too.
  for (const place of ['bin', 'var/lib']) await mkdir(join(root, place), { recursive: true });
  const inRoot = (text: string) => text.replaceAll(/(?<=[\s=]|^)\/(?=app|bin|var)/g, `${root}/`);
  await runAll((last ?? []).map(inRoot), image);
  await chmod(folder, 0o755);

  const files = await readdir(image, { recursive: true });
  const development = /^(src|streams|test|scripts|node_modules\/(jest|typescript|eslint))$/;
  expect(files.filter((file) => development.test(file))).toEqual([]);
  expect(files.filter((file) => /(\.[cm]?ts|\.map)$/.test(file))).toEqual([]);
  const { stdout: size } = await run('du', ['-sk', image]);
  // docs/sizing.md says so.
  expect(parseInt(size, 10) / 1024).toBeLessThan(44);

  const [entry = ''] = JSON.parse(only(last, 'ENTRYPOINT')) as string[];
  const [uid, gid] = only(last, 'USER').split(':').map(Number);
  const env: Readonly<Record<string, string>> = {
    ...pairs(inRoot(only(last, 'ENV'))),
    PATH: dirname(nodeBinary(24)),
  };
  // Only root may start something as another user.
  const user = process.getuid?.() === 0 ? { uid, gid } : {};
  const output = await expectToServe({ command: inRoot(entry), cwd: image, env, ...user });
  expect(output).toContain('node=v24.');
  expect(output).not.toMatch(/is not a setting|no effect/);
  const version = await run(inRoot(entry), ['--version'], { cwd: image, env, ...user });
  expect(version.stdout).toMatch(/^ratelimit \d+\.\d+\.\d+\S*, node v24\./);
  const added = join(dirname(env['IDENTITY_STORE_FILE'] ?? ''), 'by-the-user');
  await run('touch', [added], user);
}, 600_000);

/** COPY: several sources go into the target, a single one becomes it. */
async function copyAll(
  instructions: ReturnType<typeof copies>,
  locate: (source: string) => string,
  base: string,
): Promise<void> {
  for (const { sources, target } of instructions) {
    for (const source of sources) {
      const place = sources.length > 1 ? join(base, target, source) : join(base, target);
      await cp(locate(source), place, { recursive: true, verbatimSymlinks: true });
    }
  }
}

/** RUN: the commands of a stage, one after the other. */
async function runAll(stage: readonly string[], cwd: string): Promise<void> {
  const commands = stage
    .filter((line) => line.startsWith('RUN '))
    .flatMap((line) => line.slice('RUN '.length).split(' && '));
  const env = { ...process.env, NODE_ENV: '' };
  for (const command of commands)
    if (command === 'npm ci') await installLinked(cwd, env);
    else await run('sh', ['-c', command], { cwd, env });
}

/** `npm ci`: npm says whether it could, and what it would install is taken from here. */
async function installLinked(cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  await run('npm', ['ci', '--dry-run', '--prefer-offline'], { cwd, env });
  await linkNodeModules(cwd);
}

it('ends `npm start` with 0 when the service gets SIGTERM, and builds only after a change', async () => {
  // In a copy: it builds, and what it writes anew is what the tests beside this one run. What was compiled comes along.
  const copy = join(folder, 'copy');
  await mkdir(copy);
  const sources = [
    'package.json',
    'tsconfig.json',
    'src',
    'streams',
    'scripts',
    'proto',
    'ui',
    'zoneinfo',
  ];
  const names = [...sources, 'dist'].map((name) => join(ROOT, name));
  // To the nanosecond: the build looks at times of change.
  await run('cp', ['--archive', ...names, copy]);
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const start = { command: 'npm', words: ['start'], cwd: copy };
  expect(await expectToServe(start)).not.toContain('building …');
  await appendFile(join(copy, 'src/core/units.ts'), '\n');
  expect(await expectToServe(start)).toContain('building …');
  expect(await expectToServe(start)).not.toContain('building …');
}, 240_000);

interface Started {
  readonly command: string;
  readonly words?: readonly string[];
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
}

/** Starts a command, waits until it serves the example rules, stops it and expects 0; answers what it printed. */
async function expectToServe(started: Started): Promise<string> {
  const { command, words = [], env = {}, ...place } = started;
  const [http, grpc, debug] = await Promise.all([freePort(), freePort(), freePort()]);
  const child = spawn(command, words, {
    ...place,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: process.env['HOME'],
      RUNTIME_ROOT: join(ROOT, 'examples'),
      DISABLE_STATS: 'true',
      PORT: String(http),
      GRPC_PORT: String(grpc),
      DEBUG_PORT: String(debug),
      ...env,
    },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'close') as Promise<[number | null]>;
  try {
    await eventually(
      async () => {
        if (child.exitCode !== null) throw new Error(`ended at once:\n${output}`);
        const rules = await fetch(`http://127.0.0.1:${String(debug)}/rlconfig`);
        expect(await rules.text()).toContain('example.try: unit=MINUTE');
        expect((await fetch(`http://127.0.0.1:${String(http)}/healthcheck`)).status).toBe(200);
      },
      { withinMs: 120_000, everyMs: 50 },
    );
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
    return output;
  } finally {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }
}
