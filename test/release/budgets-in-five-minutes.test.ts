import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandsIn, patternOf } from '../support/edge/page-commands';
import { startService, stopServices, type Service } from '../support/edge/service';

const ROOT = join(__dirname, '../..');
/** With a year for the day of the page, which does not end during the test. */
const page = readFileSync(join(ROOT, 'docs/budgets-in-five-minutes.md'), 'utf8')
  .replaceAll(/\bday\b/g, 'year')
  .replaceAll('DAY', 'YEAR');
const blocks = [...page.matchAll(/^```\n([^]*?)^```$/gm)].map(([, block = '']) => block);
const writesRules = blocks.find((block) => block.startsWith('cat >')) ?? '';
const steps = blocks.filter((block) => block.startsWith('$ ')).flatMap(commandsIn);
const commands = steps.filter(({ output }) => output.length > 0);
/** Times are all that differs from run to run. */
const TIMES = /\d+(?=s\b)|(?<=Seconds":)\d+/g;

// A folder like the repository after `npm ci`, to which the page may add its rule file.
const folder = mkdtempSync(join(tmpdir(), 'weir-budgets-'));
afterAll(async () => {
  await stopServices();
  rmSync(folder, { recursive: true });
});

const run = (command: string): Promise<string> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: folder, npm_config_offline: 'true' };
    // A refusal has an exit code of its own: what it printed is compared.
    execFile('sh', ['-c', command], { cwd: folder, env, timeout: 20_000 }, (_error, stdout) => {
      resolve(stdout);
    });
  });

const onPortsOf = (service: Service, command: string): string =>
  command
    .replace('localhost:8080', service.http.replace('http://', ''))
    .replace('localhost:6070', service.debug.replace('http://', ''))
    .replace(/^npx ratelimit-client /, `$&-dial_string ${service.grpc} `);

it('each command of the page answers what the page says, one after the other', async () => {
  for (const name of ['package.json', 'dist', 'node_modules', 'proto'])
    symlinkSync(join(ROOT, name), join(folder, name));
  cpSync(join(ROOT, 'examples'), join(folder, 'examples'), { recursive: true });
  await run(writesRules);
  const service = await startService({ env: { RUNTIME_ROOT: join(folder, 'examples') } });
  expect(commands.length).toBeGreaterThan(8);
  for (const { command, output } of commands) {
    const printed = await run(onPortsOf(service, command));
    expect(`${command}\n${printed}`).toMatch(patternOf([command, ...output], TIMES));
  }
});
