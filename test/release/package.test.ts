import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { linkNodeModules } from '../support/edge/link-node-modules';
import { nodeBinary } from '../support/edge/node-binary';

const ROOT = join(__dirname, '../..');
const run = promisify(execFile);

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

let folder: string;
let packed: Packed;
beforeAll(async () => {
  // On one disk with what is installed here: npm takes from it what the package needs and drops the rest.
  await mkdir(join(ROOT, '.cache'), { recursive: true });
  folder = await mkdtemp(join(ROOT, '.cache/package-'));
  await writeFile(join(folder, 'package.json'), '{}');
  await linkNodeModules(folder);
  // Scripts left out: what is built is what the tests beside this one run.
  const words = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
  const { stdout } = await run('npm', words, { cwd: ROOT });
  [packed] = JSON.parse(stdout) as [Packed];
  const install = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--omit=dev'];
  await run('npm', [...install, join(folder, packed.filename)], { cwd: folder });
  expect(existsSync(join(folder, 'node_modules/jest'))).toBe(false);
}, 180_000);
afterAll(() => rm(folder, { recursive: true }));

it('holds what the commands and the clients need, and nothing else', () => {
  const paths = packed.files.map(({ path }) => path);
  const expected =
    /^(dist\/(src|streams)\/.+\.m?js|dist\/src\/counters\/redis\/lua\/.+\.lua|dist\/src\/(client|identity\/(client|contract))\/[\w-]+\.d\.m?ts|dist\/src\/platform\/rate-limit-response\.d\.ts|dist\/man\/.+\.1|proto\/.+\.(proto|js|json)|proto\/README\.md|ui\/.+|zoneinfo\/.+|examples\/config\/.+|package\.json|README\.md|CHANGELOG\.md|LICENSE|NOTICE|weir-rules\.schema\.json)$/;
  expect(paths.filter((path) => !expected.test(path))).toEqual([]);
  for (const path of [
    'LICENSE',
    'NOTICE',
    'weir-rules.schema.json',
    'dist/src/bin/weir.js',
    'dist/src/counters/redis/lua/keys.lua',
    'ui/index.html',
    'zoneinfo/zones.tzif',
  ])
    expect(paths).toContain(path);
  expect(packed.unpackedSize).toBeLessThan(4e6);
});

it.each([20, 22, 24] as const)(
  '`npx weir` serves the example rules on Node %i, from an empty folder, and keeps what Node compiled where it can',
  async (major) => {
    const home = join(folder, `home-${String(major)}`);
    const [http, grpc, debug] = await Promise.all([freePort(), freePort(), freePort()]);
    const child = spawn(join(folder, 'node_modules/.bin/weir'), [], {
      cwd: folder,
      env: {
        PATH: dirname(nodeBinary(major)),
        HOME: home,
        PORT: String(http),
        GRPC_PORT: String(grpc),
        DEBUG_PORT: String(debug),
        DISABLE_STATS: 'true',
      },
    });
    const ended = once(child, 'exit');
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    try {
      const body = JSON.stringify({
        domain: 'example',
        descriptors: [{ entries: [{ key: 'try', value: 'package' }] }],
      });
      const statuses: number[] = [];
      await eventually(
        async () => {
          if (child.exitCode !== null) throw new Error(output);
          const url = `http://127.0.0.1:${String(http)}/json`;
          statuses.push((await fetch(url, { method: 'POST', body })).status);
          expect(statuses).toContain(429);
        },
        { withinMs: 20_000, everyMs: 20 },
      );
      expect(statuses).toContain(200);
      expect(output).toContain(`node=v${String(major)}.`);
      expect((await fetch(`http://127.0.0.1:${String(debug)}/ui`)).status).toBe(200);
    } finally {
      child.kill('SIGTERM');
      expect(await ended).toEqual([0, null]);
    }
    expect(existsSync(join(home, '.cache/weir'))).toBe(major > 20);
  },
  60_000,
);

it('brings man pages written from the help, with every setting', async () => {
  const man = join(folder, 'man');
  await run(process.execPath, ['scripts/write-man.mjs', man], { cwd: ROOT });
  const page = await readFile(join(man, 'ratelimit.1'), 'utf8');
  expect(page).toMatch(/^\.TH RATELIMIT 1 /);
  const { stdout: help } = await run(join(folder, 'node_modules/.bin/ratelimit'), ['--help']);
  const settings = help.match(/^ {2}[A-Z][A-Z_]+/gm) ?? [];
  expect(settings.length).toBeGreaterThan(50);
  expect(settings.filter((name) => !page.includes(`\n${name}`))).toEqual([]);
  expect(page).not.toMatch(/^(?!\.(TH|SH|nf|fi))[.']/m);
});

it('names a man page for every command', async () => {
  const text = await readFile(join(ROOT, 'package.json'), 'utf8');
  const { bin, man } = JSON.parse(text) as { readonly bin: object; readonly man: string[] };
  expect(man).toEqual(Object.keys(bin).map((name) => `dist/man/${name}.1`));
});

it('starts every command with what keeps what Node compiled', async () => {
  const bin = join(ROOT, 'dist/src/bin');
  const commands = (await readdir(bin)).filter((name) => name.endsWith('.js'));
  expect(commands.length).toBeGreaterThan(6);
  for (const name of commands) {
    const [first] = /\brequire\(.*\)/.exec(await readFile(join(bin, name), 'utf8')) ?? [];
    expect([name, first]).toEqual([name, 'require("../platform/compile-cache")']);
  }
});

it('is refused by `npm publish`: the name belongs to somebody else', async () => {
  // A registry that nobody serves: a package that is not refused would come no further than this.
  const registry = `127.0.0.1:${String(await freePort())}`;
  const to = [`--registry=http://${registry}`, `--//${registry}/:_authToken=none`];
  const words = ['publish', '--ignore-scripts', '--tag=next', '--fetch-retries=0', ...to];
  await expect(run('npm', words, { cwd: ROOT })).rejects.toThrow(/EPRIVATE/);
});

it('completes its commands in bash', async () => {
  const bin = join(folder, 'node_modules/.bin');
  const script = `
    source <(${bin}/ratelimit --completion bash); source <(${bin}/identity --completion bash)
    for command in ratelimit ratelimit-client ratelimit-config-check ratelimit-hash-value ratelimit-simulate identity; do complete -p $command; done`;
  const { stdout } = await run('bash', ['-c', script]);
  const lines = stdout.trim().split('\n');
  expect(lines.map((line) => line.split(' ').at(-1))).toEqual([
    'ratelimit',
    'ratelimit-client',
    'ratelimit-config-check',
    'ratelimit-hash-value',
    'ratelimit-simulate',
    'identity',
  ]);
  for (const [index, word] of [
    '--version',
    '-dial_string',
    '-strict',
    '-key_file',
    '-against',
    'revoke-all',
  ].entries())
    expect(lines[index]).toContain(word);
});
