import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../support/eventually';
import { freePort } from '../support/free-port';

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

it('runs as another user than root, and knows its health without curl', async () => {
  const [, last = []] = await readDockerfile();
  expect(last).toContain('USER node');
  expect(last.some((line) => line.startsWith('HEALTHCHECK') && !line.includes('curl'))).toBe(true);
  const compose = await readFile(join(ROOT, 'docker-compose.yml'), 'utf8');
  expect(compose).toContain('read_only: true');
  expect(compose).toContain('condition: service_healthy');
});

it('installs, builds and starts in an empty folder from what the image copies', async () => {
  const [build, last] = await readDockerfile();
  const app = join(folder, 'build');
  const image = join(folder, 'image');
  await copyAll(copies(build, 'context'), (source) => join(ROOT, source), app);
  await runAll(build ?? [], app);
  await copyAll(copies(last, 'build'), (source) => join(app, source.replace('/app/', '')), image);
  await copyAll(copies(last, 'context'), (source) => join(ROOT, source), image);
  await mkdir(join(folder, 'bin'));
  const command = join(folder, 'bin', 'ratelimit');
  await symlink(join(image, 'dist/src/bin/ratelimit.js'), command);
  await expectToServe(command, [], folder);
}, 300_000);

/** COPY: several sources go into the target, a single one becomes it. */
async function copyAll(
  instructions: ReturnType<typeof copies>,
  locate: (source: string) => string,
  base: string,
): Promise<void> {
  for (const { sources, target } of instructions) {
    for (const source of sources) {
      const place = sources.length > 1 ? join(base, target, source) : join(base, target);
      await cp(locate(source), place, { recursive: true });
    }
  }
}

/** RUN: the npm commands of a stage, one after the other. */
async function runAll(stage: readonly string[], cwd: string): Promise<void> {
  const commands = stage
    .filter((line) => line.startsWith('RUN '))
    .flatMap((line) => line.slice('RUN '.length).split(' && '));
  for (const command of commands)
    await run('sh', ['-c', command], { cwd, env: { ...process.env, NODE_ENV: '' } });
}

it('ends `npm start` with 0 when the service gets SIGTERM', async () => {
  // In a copy: it builds, and what it writes anew is what the tests beside this one run.
  const copy = join(folder, 'copy');
  await mkdir(copy);
  for (const name of ['package.json', 'tsconfig.json', 'src', 'streams', 'scripts', 'proto', 'ui'])
    await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  await expectToServe('npm', ['start'], copy);
}, 240_000);

/** Starts a command, waits until it serves the example rules, stops it and expects 0. */
async function expectToServe(command: string, words: string[], cwd: string): Promise<void> {
  const [http, grpc, debug] = await Promise.all([freePort(), freePort(), freePort()]);
  const child = spawn(command, words, {
    cwd,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: process.env['HOME'],
      RUNTIME_ROOT: join(ROOT, 'examples'),
      PORT: String(http),
      GRPC_PORT: String(grpc),
      DEBUG_PORT: String(debug),
    },
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'exit') as Promise<[number | null]>;
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
  } finally {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }
}
