// `npm run test:mutants [-- folder or file …]`: changes the product in one place at a time, and asks which tests see it.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Stryker } from '@stryker-mutator/core';

/** The tests that are asked about each folder: the nearest ones, or a change that nobody sees takes all tests. */
const TESTS = {
  streams: ['test/streams'],
  'src/decisions': ['test/unit/decisions', 'test/scenarios/memory'],
  'src/core/windows': ['test/unit/core/windows'],
  'src/core/kinds': [
    ...['test/unit/core/kinds', 'test/unit/core/decision', 'test/unit/decisions'],
    'test/scenarios/memory',
  ],
  'src/core/budgets': [
    ...['test/unit/core/budgets', 'test/unit/core/explain', 'test/unit/decisions'],
    'test/scenarios/memory',
  ],
  'src/core/decision': ['test/unit/core/decision', 'test/unit/decisions', 'test/scenarios/memory'],
  'src/core/planning': ['test/unit/core/planning', 'test/unit/decisions', 'test/scenarios/memory'],
  'src/core/batches': ['test/unit/core/batches', 'test/unit/decisions', 'test/scenarios/memory'],
  'src/core/explain': ['test/unit/core/explain', 'test/unit/decisions'],
  'src/core/rules': ['test/unit/core/rules', 'test/unit/core/explain', 'test/unit/core/planning'],
  'src/core/rules/parse': ['test/unit/core/rules'],
  'src/fields': ['test/unit/fields', 'test/unit/core/rules', 'test/unit/request-maps'],
  'src/core': ['errors', 'ports', 'steps', 'units'].map((name) => `test/unit/core/${name}.test.ts`),
};
/** Reads hundreds of made-up rule files, which every change of a rule's fields would wait for: it is left out, and so is its subject. */
const LONG = ['rule-schema.test.ts'];
const LEFT_OUT = ['!src/core/rules/parse/rule-schema.ts'];
const FOLDERS = Object.keys(TESTS);
/** Folders that are mutated with all that lies below them. */
const WHOLE = ['streams', 'src/decisions'];
const LEAST_PERCENT = 85;
const SEEN = ['Killed', 'Timeout'];
const UNSEEN = ['Survived', 'NoCoverage'];

const named = process.argv.slice(2);
const unknown = named.filter((path) => !FOLDERS.includes(folderOf(path)));
if (unknown.length > 0) {
  console.error(`${unknown.join(', ')}: expected some of ${FOLDERS.join(', ')}, or a file there`);
  process.exit(1);
}

const lines = [];
let seen = 0;
let unseen = 0;
for (const path of named.length > 0 ? named : FOLDERS) {
  const folder = folderOf(path);
  const files = path === folder ? `${path}/${WHOLE.includes(path) ? '**/' : ''}*.ts` : path;
  const mutate = [files, ...LEFT_OUT];
  const incrementalFile = `.cache/mutants/${path.replaceAll('/', '-')}.json`;
  const testFiles = TESTS[folder].flatMap(testFilesIn);
  const mutants = await new Stryker({ mutate, testFiles, incrementalFile }).runMutationTest();
  const survivors = mutants.filter(({ status }) => UNSEEN.includes(status));
  const killed = mutants.filter(({ status }) => SEEN.includes(status)).length;
  seen += killed;
  unseen += survivors.length;
  const waited = mutants.filter(({ status }) => status === 'Timeout');
  for (const mutant of [...survivors, ...waited]) lines.push(describe(mutant));
  const timeouts = waited.length > 0 ? `, ${waited.length} by a time-out` : '';
  lines.push(
    `${path}: ${percent(killed, survivors.length)} of ${killed + survivors.length}${timeouts}`,
  );
}
console.log(lines.join('\n'));
console.log(`${percent(seen, unseen)} seen, ${LEAST_PERCENT}% expected`);
process.exitCode = (100 * seen) / (seen + unseen) < LEAST_PERCENT ? 1 : 0;

/** The nearest folder of the table, where a file is named. */
function folderOf(path) {
  return path.endsWith('.ts') ? dirname(path) : path;
}

function testFilesIn(folder) {
  if (folder.endsWith('.test.ts')) return [folder];
  const names = readdirSync(folder, { recursive: true }).sort();
  return names
    .filter((name) => name.endsWith('.test.ts') && !LONG.some((long) => name.endsWith(long)))
    .map((name) => `${folder}/${name}`);
}

function percent(some, others) {
  return `${((100 * some) / Math.max(1, some + others)).toFixed(1)}%`;
}

/** `file:line: what stood there → what stood there instead`, cut. */
function describe({ fileName, location, replacement, status }) {
  const { start, end } = location;
  const text = readFileSync(fileName, 'utf8').split('\n');
  const isOneLine = start.line === end.line;
  const was = text[start.line - 1].slice(start.column - 1, isOneLine ? end.column - 1 : undefined);
  const isNow = replacement.replaceAll(/\s+/g, ' ');
  const path = fileName.slice(process.cwd().length + 1);
  return `  ${path}:${start.line}: ${was.trim()}${isOneLine ? '' : ' …'} → ${isNow} (${status})`;
}
