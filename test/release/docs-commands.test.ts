import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  startIdentityProcess,
  stopIdentities,
  type IdentityProcess,
} from '../support/edge/identity-service';
import { commandsIn, patternOf, type PageCommand } from '../support/edge/page-commands';
import { startService, stopServices, type Service } from '../support/edge/service';

const ROOT = join(__dirname, '../..');

/** Commands that are not run, and why. Everything else is run as it is printed. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [
    /^npm (ci|test|start)$/,
    'installs, runs this test, or is what the services below are started as',
  ],
  [
    /^node examples\/code\/server\.mjs$| localhost:3000/,
    'a server, and what asks it: test/e2e/client-example.test.ts starts it',
  ],
  [/^npm run start:identity$/, 'the identity service below is started as it'],
  [/^npm run (?!start)/, 'minutes of work: that the script exists is checked'],
  [/^(grpcurl|go) /, 'tools that are not ours; test/release/wire-interop.test.ts runs grpcurl'],
  [/\b(DIR|FILE)\b|<\w+>|…/, 'the reader fills something in'],
  [/ -config_dir rules$/, "shows a mistake in the reader's own files"],
  [/^npx identity user import /, "reads the reader's own file"],
];

interface Printed extends PageCommand {
  readonly file: string;
}

const PROGRAM = /^(npx|npm|node|curl|grpcurl|go|docker|ratelimit[a-z-]*|identity) [^ ]/;

const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' }).map(
    (name) => `docs/${name}`,
  ),
];
/** Pages whose commands need a Redis and a scrape, or rules of their own: tests of their names run them. */
const ELSEWHERE = ['docs/runbook.md', 'docs/budgets-in-five-minutes.md'];
const texts = pages
  .filter((file) => file.endsWith('.md') && !ELSEWHERE.includes(file))
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));

function commandsOf({ file, text }: { file: string; text: string }): readonly Printed[] {
  const blocks = [...text.matchAll(/^```(\w*)\n([^]*?)^```$/gm)];
  const shell = blocks.filter(([, language = '']) => ['', 'sh'].includes(language));
  const prose = text.replaceAll(/^```[^]*?^```$/gm, '');
  const inline = [...prose.matchAll(/`(npx (?:ratelimit|identity)[^`]*)`/g)];
  return [
    ...shell
      .flatMap(([, , block = '']) => commandsIn(block))
      .filter(({ command }) => PROGRAM.test(command)),
    ...inline.map(([, command = '']) => ({ command, output: [] })),
  ].map((one) => ({ file, ...one }));
}

const printed = texts.flatMap(commandsOf);
const toRun = printed.filter(
  ({ command }, index) =>
    !NOT_RUN.some(([pattern]) => pattern.test(command)) &&
    printed.findIndex((other) => other.command === command) === index,
);

let folder: string;
let service: Service;
let identity: IdentityProcess;
beforeAll(async () => {
  // A folder like the repository after `npm ci`, so that files that commands write are left nowhere else.
  folder = mkdtempSync(join(tmpdir(), 'weir-docs-'));
  for (const name of ['package.json', 'dist', 'examples', 'node_modules', 'proto'])
    symlinkSync(join(ROOT, name), join(folder, name));
  service = await startService();
  identity = await startIdentityProcess({
    IDENTITY_STORE_FILE: join(folder, 'identity-store.json'),
    RUNTIME_ROOT: join(ROOT, 'examples/identity'),
  });
}, 30_000);
afterAll(async () => {
  await Promise.all([stopServices(), stopIdentities()]);
  rmSync(folder, { recursive: true });
});

/** The command with the ports of the services of this test. */
function onOurPorts(command: string): string {
  const host = (url: string) => url.replace('http://', '');
  return command
    .replace('localhost:8080', host(service.http))
    .replace('localhost:6070', host(service.debug))
    .replace('localhost:8082', host(identity.baseUrl))
    .replace(/^npx ratelimit-client /, `$&-dial_string ${service.grpc} `);
}

function run(command: string): Promise<{ readonly error: Error | null; readonly stdout: string }> {
  const env = {
    ...identity.env,
    HOME: folder,
    npm_config_offline: 'true',
    npm_config_yes: 'false',
  };
  const options = { cwd: folder, env, timeout: 20_000 };
  return new Promise((resolve) => {
    execFile('sh', ['-c', command], options, (error, stdout) => {
      resolve({ error, stdout });
    });
  });
}

it('finds the commands of the pages', () => {
  expect(toRun.length).toBeGreaterThan(9);
  const unused = NOT_RUN.filter(
    ([pattern]) => !printed.some(({ command }) => pattern.test(command)),
  );
  expect(unused).toEqual([]);
});

it.each(toRun)(
  '$file: $command',
  async ({ command, output }) => {
    const { error, stdout } = await run(onOurPorts(command));
    expect(error).toBeNull();
    expect(stdout).not.toMatch(/"(error|OVER_LIMIT)"/);
    if (output.length > 0) expect(stdout).toMatch(patternOf(output));
  },
  30_000,
);

it('every script that a page names exists', () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const lost = texts.flatMap(({ file, text }) =>
    [...text.matchAll(/npm run (\w[\w:-]*\w)/g)]
      .map(([, name = '']) => name)
      .filter((name) => !Object.hasOwn(manifest.scripts, name))
      .map((name) => `${file}: npm run ${name}`),
  );
  expect(lost).toEqual([]);
});

it('no page prints a command that npx has to find without npx', () => {
  const bare = printed.filter(({ command }) => /^(ratelimit|identity)/.test(command));
  expect(bare).toEqual([]);
});
