import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { KEY_KINDS, type KeysOrder, type KeysReport } from './keys-run';
import { median } from './measure';

const USAGE = 'npm run bench:keys -- [build] [build] [--keys 10000,1000000] [--rounds 3]';
/** Enough for ten million counters of any build. */
const HEAP_MEGABYTES = 12_000;

/** Counters in memory: what each weighs and costs, and how long they stop the process, with one build or two by turns. */
function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      keys: { type: 'string', default: '10000,1000000' },
      rounds: { type: 'string', default: '3' },
    },
  });
  const builds = positionals.length === 0 ? ['dist'] : positionals;
  if (builds.length > 2) throw new Error(USAGE);
  console.log(`${cpus()[0]?.model ?? 'unknown processor'}, node ${process.version}\n`);
  const heads = ['kind', 'counters', 'figure', ...builds, 'ratio'];
  console.log(`| ${heads.join(' | ')} |\n|${' --- |'.repeat(heads.length)}`);
  for (const kind of Object.keys(KEY_KINDS) as KeysOrder['kind'][])
    for (const keys of values.keys.split(',').map(Number))
      printRows(builds, kind, keys, Number(values.rounds));
}

const FIGURES = {
  bytes: ['bytes of a counter', 0],
  micros: ['CPU, µs a decision', 2],
  p99Ms: ['p99 at 10,000 a second, ms', 2],
  longestMs: ['longest, ms', 1],
  endingMs: ['longest while all end, ms', 1],
} as const satisfies Record<keyof KeysReport, readonly [string, number]>;

function printRows(
  builds: readonly string[],
  kind: KeysOrder['kind'],
  keys: number,
  rounds: number,
): void {
  const reports = builds.map((): KeysReport[] => []);
  for (let round = 0; round < rounds; round += 1)
    for (const [at, dist] of builds.entries()) reports[at]?.push(measure({ dist, kind, keys }));
  for (const [figure, [name, digits]] of Object.entries(FIGURES)) {
    const medians = reports.map((all) => median(all.map((one) => one[figure as keyof KeysReport])));
    const [first = NaN, second] = medians;
    const ratio = second === undefined ? '' : (second / first).toFixed(2);
    const cells = [
      kind,
      keys.toLocaleString('en'),
      name,
      ...medians.map((one) => one.toFixed(digits)),
    ];
    console.log(`| ${cells.join(' | ')} | ${ratio} |`);
  }
}

function measure({ dist, ...order }: KeysOrder): KeysReport {
  const argument = JSON.stringify({ ...order, dist: resolve(dist) });
  const node = ['--expose-gc', `--max-old-space-size=${String(HEAP_MEGABYTES)}`];
  const output = execFileSync(
    process.execPath,
    [...node, join(__dirname, 'keys-run.js'), argument],
    { encoding: 'utf8' },
  );
  return JSON.parse(output) as KeysReport;
}

main();
