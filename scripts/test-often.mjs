// Runs a command of tests again and again, each time in another order of files and with other made-up cases, every second time beside
// load on all cores:
//   node scripts/test-often.mjs test 12      or: edge 6, release 2
//   node scripts/test-often.mjs test 12 busy   where the machine has other work: every run is beside that
// Prints a line for each run, with the names of what failed. Goes on where it was interrupted, and adds up over days.
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';

const PROJECTS = { test: ['covering', 'near'], edge: ['edge'], release: ['release'] };
const [sort = 'test', wanted = '12', busy] = process.argv.slice(2);
const projects = PROJECTS[sort];
const runs = Number(wanted);
const isBusy = busy === 'busy';
if (
  projects === undefined ||
  !Number.isInteger(runs) ||
  runs < 1 ||
  (busy !== undefined && !isBusy)
) {
  console.error('expected test, edge or release, how many runs, and perhaps busy');
  process.exit(2);
}

const COLOURS = /\x1b\[\d+m/g;
const MEMORY = join('.cache', `often-${sort}.jsonl`);
const print = (...words) => spawnSync(words[0], words.slice(1), { encoding: 'utf8' }).stdout.trim();
const commit = print('git', 'rev-parse', '--short', 'HEAD');
const changed = print('git', 'status', '--porcelain') === '' ? '' : '+';
const version = `${commit}${changed}`;

/** All runs so far; those of other versions count in the sum alone. */
const remembered = () =>
  existsSync(MEMORY)
    ? readFileSync(MEMORY, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    : [];

/** Keeps every core busy until it is ended. */
function startLoad() {
  const busy = () => spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' });
  const loops = Array.from({ length: availableParallelism() }, busy);
  return () => loops.forEach((loop) => loop.kill('SIGKILL'));
}

/** The message of the first failure, without its stack. */
function whyOf([message = '']) {
  const lines = message.replace(COLOURS, '').split('\n');
  const end = lines.findIndex((line) => /^\s+at /.test(line));
  return lines
    .slice(0, end === -1 ? 12 : Math.min(end, 12))
    .filter((line) => line.trim() !== '')
    .map((line) => `        ${line}`)
    .join('\n');
}

function playOnce(seed, addsLoad) {
  const folder = mkdtempSync(join(tmpdir(), 'test-often-'));
  const report = join(folder, 'report.json');
  const stopLoad = addsLoad ? startLoad() : () => undefined;
  const startedMs = Date.now();
  const words = [
    '--selectProjects',
    ...projects,
    '--coverage=false',
    '--json',
    `--outputFile=${report}`,
  ];
  const { status } = spawnSync(process.execPath, ['node_modules/jest/bin/jest.js', ...words], {
    stdio: 'ignore',
    env: { ...process.env, ORDER_SEED: String(seed), PROPERTY_SEED: String(seed) },
  });
  stopLoad();
  const { numPassedTests: passed = 0, testResults = [] } = existsSync(report)
    ? JSON.parse(readFileSync(report, 'utf8'))
    : {};
  rmSync(folder, { recursive: true });
  const failed = testResults.flatMap(({ name, status: of, assertionResults, message }) => {
    const file = name.replace(`${process.cwd()}/`, '');
    const tests = assertionResults.filter((one) => one.status === 'failed');
    if (tests.length === 0)
      return of === 'failed' ? [`${file} does not run\n${whyOf([message])}`] : [];
    return tests.map(
      ({ fullName, failureMessages }) => `${file} › ${fullName}\n${whyOf(failureMessages)}`,
    );
  });
  if (status !== 0 && failed.length === 0) failed.push(`jest ended with ${String(status)}`);
  return { seconds: Math.round((Date.now() - startedMs) / 1_000), passed, failed };
}

if (spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' }).status !== 0)
  process.exit(1);
mkdirSync('.cache', { recursive: true });
const done = remembered().filter((run) => run.version === version).length;
for (let run = done; run < runs; run += 1) {
  const isLoaded = isBusy || run % 2 === 1;
  const seed = 1 + Math.floor(Math.random() * 1e9);
  const found = playOnce(seed, isLoaded && !isBusy);
  appendFileSync(MEMORY, `${JSON.stringify({ version, seed, isLoaded, ...found })}\n`);
  const how = isLoaded ? 'beside load' : 'alone';
  console.log(
    `${found.failed.length === 0 ? 'green' : 'RED  '} run ${String(run + 1)} of ${String(runs)}, ${how}, ORDER_SEED and PROPERTY_SEED ${String(seed)}: ${String(found.passed)} passed in ${String(found.seconds)} s`,
  );
  for (const name of found.failed) console.log(`      ${name}`);
}
const all = remembered();
const red = all.filter(({ failed }) => failed.length > 0);
const ofVersion = red.filter((run) => run.version === version).length;
console.log(
  `${String(ofVersion)} red of this version; over all days ${String(red.length)} red of ${String(all.length)} runs`,
);
process.exitCode = ofVersion === 0 ? 0 : 1;
