// `npm run test:mutants [-- folder …]`: changes the product in one place at a time, and asks which tests see it.
import { readFileSync } from 'node:fs';
import { Stryker } from '@stryker-mutator/core';

const FOLDERS = [
  'streams',
  'src/decisions',
  'src/core/windows',
  'src/core/algorithms',
  'src/core/decision',
  'src/core/planning',
  'src/core/explain',
  'src/core/rules',
  'src/core/rules/parse',
  'src/core',
];
/** Folders that are mutated with all that lies below them. */
const WHOLE = ['streams', 'src/decisions'];
const LEAST_PERCENT = 85;
const SEEN = ['Killed', 'Timeout'];
const UNSEEN = ['Survived', 'NoCoverage'];

const named = process.argv.slice(2);
const unknown = named.filter((folder) => !FOLDERS.includes(folder));
if (unknown.length > 0) {
  console.error(`${unknown.join(', ')}: expected some of ${FOLDERS.join(', ')}`);
  process.exit(1);
}

const lines = [];
let seen = 0;
let unseen = 0;
for (const folder of named.length > 0 ? named : FOLDERS) {
  const mutate = [`${folder}/${WHOLE.includes(folder) ? '**/' : ''}*.ts`];
  const incrementalFile = `.cache/mutants/${folder.replaceAll('/', '-')}.json`;
  const mutants = await new Stryker({ mutate, incrementalFile }).runMutationTest();
  const survivors = mutants.filter(({ status }) => UNSEEN.includes(status));
  const killed = mutants.filter(({ status }) => SEEN.includes(status)).length;
  seen += killed;
  unseen += survivors.length;
  for (const survivor of survivors) lines.push(describe(survivor));
  lines.push(`${folder}: ${percent(killed, survivors.length)} of ${killed + survivors.length}`);
}
console.log(lines.join('\n'));
console.log(`${percent(seen, unseen)} seen, ${LEAST_PERCENT}% expected`);
process.exitCode = (100 * seen) / (seen + unseen) < LEAST_PERCENT ? 1 : 0;

function percent(some, others) {
  return `${((100 * some) / Math.max(1, some + others)).toFixed(1)}%`;
}

/** `file:line: what stood there → what stood there instead`, cut. */
function describe({ fileName, location, replacement, status }) {
  const { start, end } = location;
  const text = readFileSync(fileName, 'utf8').split('\n');
  const isOneLine = start.line === end.line;
  const was = text[start.line].slice(start.column, isOneLine ? end.column : undefined).trim();
  const isNow = replacement.replaceAll(/\s+/g, ' ');
  const path = fileName.slice(process.cwd().length + 1);
  return `  ${path}:${start.line + 1}: ${was}${isOneLine ? '' : ' …'} → ${isNow} (${status})`;
}
