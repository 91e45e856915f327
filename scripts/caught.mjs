// Which suites catch the changes of test/changes? Plays those that have no line in test/changes/caught.json yet, one after the other,
// in a copy of this checkout:
//   node scripts/caught.mjs                    all that were not played
//   node scripts/caught.mjs lua-12 undo-7      these, again
//   node scripts/caught.mjs --again            those that were caught, first by what caught them: every one must be caught again
//   node scripts/caught.mjs --compare OLD,OLDER NEW,NEWER FOLDER
//                                              which changes of a folder the old suites catch and the new ones do not: a suite may go
//                                              when there are none
// A change meets the suites that are nearest to it by the words of their paths: units and contracts, then the edge. What these do not
// see counts as not caught. Goes on where it was interrupted; the order is mixed, so that a part of them is a sample of all.
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const TREE = join(tmpdir(), `weir-caught-${process.pid}`);
const FOLDER = join(ROOT, 'test/changes');
const RESULTS = join(FOLDER, 'caught.json');
const LISTS = ['typescript', 'lua', 'undo'];
/** How many suites a change meets, in steps: the nearest fail soonest. */
const STEPS = [
  ['near', 0, 6],
  ['near', 6, 40],
  ['edge', 0, 8],
];
const PROJECTS = { near: ['covering', 'near'], edge: ['edge'] };
/** A change that makes a loop endless. */
const STEP_MS = 240_000;

const words = process.argv.slice(2);
const isAgain = words[0] === '--again';
const changes = LISTS.flatMap((list) => readJson(join(FOLDER, `${list}.json`))).sort((a, b) =>
  mixed(a.id) < mixed(b.id) ? -1 : 1,
);
const results = existsSync(RESULTS) ? readJson(RESULTS) : {};
const before = structuredClone(results);
const comparison = words[0] === '--compare' ? words.slice(1) : undefined;
const chosen = changes.filter(({ id, edits }) => {
  if (comparison) return edits.some(({ file }) => file.startsWith(comparison[2] ?? ''));
  if (isAgain) return before[id]?.by.length > 0;
  return words.length > 0 ? words.includes(id) : results[id] === undefined;
});

prepareTree();
process.on('exit', () => rmSync(TREE, { recursive: true, force: true }));
if (comparison) {
  process.exitCode = (await compare(comparison)) > 0 ? 1 : 0;
  process.exit();
}
const suites = Object.fromEntries(
  Object.entries(PROJECTS).map(([kind, names]) => [kind, listSuites(names)]),
);
let lost = 0;
for (const [position, change] of chosen.entries()) {
  const startedMs = performance.now();
  const result = await play(change);
  if (isAgain && result.by.length === 0) lost += 1;
  else if (!isAgain) {
    results[change.id] = result;
    writeFileSync(RESULTS, `${JSON.stringify(sorted(results), null, 2)}\n`);
  }
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
  const what = result.gone ? 'GONE' : result.by.length > 0 ? result.by.join(' ') : 'NOT CAUGHT';
  console.log(`${position + 1} of ${chosen.length}, ${change.id}, ${seconds} s: ${what}`);
}
printTable(isAgain);
process.exitCode = lost > 0 ? 1 : 0;

/** Prints the changes that the old suites catch and the new ones do not; how many these are. */
async function compare([olds, news]) {
  const [was, is] = [olds.split(','), news.split(',')];
  const kindOf = (some) => (/^test\/(chaos|e2e|integration)/.test(some[0]) ? 'edge' : 'near');
  let both = 0;
  let missed = 0;
  for (const change of chosen) {
    const seen = await withChange(change, async () => {
      if ((await failing(kindOf(was), was)).length === 0) return undefined;
      return (await failing(kindOf(is), is)).length > 0;
    });
    if (seen === true) both += 1;
    if (seen !== false) continue;
    missed += 1;
    console.log(`${change.id} is caught by the old suites alone: ${change.edits[0].file}`);
  }
  console.log(
    `${both} of ${chosen.length} changes are caught by both, ${missed} by the old ones alone`,
  );
  return missed;
}

/** Does some work while a change is in the copy; undefined where it does not fit any more. */
async function withChange({ edits }, work) {
  const files = new Map();
  for (const { file, was, now } of edits) {
    const text = files.get(file) ?? readText(join(ROOT, file));
    if (text === undefined || text.split(was).length !== 2) return undefined;
    files.set(
      file,
      text.replace(was, () => now),
    );
  }
  for (const [file, text] of files) put(file, text);
  try {
    return await work([...files.keys()]);
  } finally {
    for (const file of files.keys()) put(file, readText(join(ROOT, file)));
  }
}

/** The suites that fail with a change, up to the step in which the first one does. */
async function play(change) {
  const failed = await withChange(change, (files) => firstFailing(stepsOf(change.id, files)));
  if (failed === undefined) return { by: [], gone: true };
  if (!failed.some((suite) => suites.edge.includes(suite))) return { by: failed };
  // What is red by itself catches nothing.
  const anyway = await failing('edge', failed);
  return { by: failed.filter((suite) => !anyway.includes(suite)) };
}

async function firstFailing(steps) {
  for (const [kind, step] of steps) {
    const failed = step.length === 0 ? [] : await failing(kind, step);
    if (failed.length > 0) return failed;
  }
  return [];
}

function stepsOf(id, files) {
  const known = before[id]?.by.filter((suite) => existsSync(join(TREE, suite))) ?? [];
  const steps = STEPS.map(([kind, from, to]) => [
    kind,
    byNearness(suites[kind], files).slice(from, to),
  ]);
  const first = ['near', 'edge'].map((kind) => [
    kind,
    known.filter((s) => suites[kind].includes(s)),
  ]);
  return [...(isAgain ? first : []), ...steps];
}

/** Suites that import one of these files first, then by the words that their paths share with them, the shortest path first. */
function byNearness(all, files) {
  const wanted = new Set(files.flatMap(wordsOf));
  const imports = files.map((file) => `/${basename(file).replace(/\.ts$/, '')}';`);
  const score = (suite) => {
    const own = wordsOf(suite);
    const text = readText(join(TREE, suite));
    const shared = own.filter((word) => wanted.has(word)).length / Math.sqrt(own.length);
    return shared + (imports.some((one) => text.includes(one)) ? 1 : 0);
  };
  return [...all].sort((a, b) => score(b) - score(a) || a.length - b.length);
}

function wordsOf(path) {
  const own = path
    .split(/[/.-]/)
    .filter((word) => !['test', 'src', 'ts', 'unit', 'lua'].includes(word));
  return [...new Set(own.map((word) => word.replace(/s$/, '')))];
}

/** Those of these suites that fail in the copy; all of them when they do not end. */
async function failing(kind, some) {
  const report = join(TREE, '.cache/report.json');
  rmSync(report, { force: true });
  const jest = spawn(
    process.execPath,
    [
      ...['node_modules/jest/bin/jest.js', '--coverage=false', '--bail=1', '--json'],
      ...['--outputFile', report, '--selectProjects', ...PROJECTS[kind], '--', ...some],
    ],
    { cwd: TREE, stdio: 'ignore', detached: true },
  );
  const ended = new Promise((resolve) => jest.once('close', resolve));
  const late = setTimeout(() => process.kill(-jest.pid, 'SIGKILL'), STEP_MS);
  await ended;
  clearTimeout(late);
  if (!existsSync(report)) return some;
  return readJson(report)
    .testResults.filter(({ status }) => status === 'failed')
    .map(({ name }) => relative(TREE, name));
}

/** Writes a file of the copy, and what is built of it. */
function put(file, text) {
  writeFileSync(join(TREE, file), text);
  if (!file.endsWith('.ts')) return writeFileSync(join(TREE, 'dist', file), text);
  const compilerOptions = {
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2023,
    esModuleInterop: true,
  };
  const { outputText } = ts.transpileModule(text, { compilerOptions, fileName: file });
  writeFileSync(join(TREE, 'dist', file.replace(/\.ts$/, '.js')), outputText);
}

function prepareTree() {
  rmSync(TREE, { recursive: true, force: true });
  mkdirSync(join(TREE, '.cache'), { recursive: true });
  const named = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT });
  for (const file of String(named).trim().split('\n'))
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(TREE, file));
  execFileSync('cp', ['-al', join(ROOT, 'node_modules'), join(TREE, 'node_modules')]);
  execFileSync(process.execPath, ['scripts/build.mjs'], { cwd: TREE, stdio: 'inherit' });
}

function listSuites(projects) {
  const listed = execFileSync(
    process.execPath,
    ['node_modules/jest/bin/jest.js', '--listTests', '--selectProjects', ...projects],
    { cwd: TREE },
  );
  return String(listed)
    .trim()
    .split('\n')
    .filter((line) => line.endsWith('.test.ts'))
    .map((path) => relative(TREE, path));
}

/** Changes, caught and not, by the folder of the first file. */
function printTable() {
  const rows = new Map();
  for (const { id, edits } of changes) {
    const result = results[id];
    if (result === undefined) continue;
    const folder = edits[0].file.split('/').slice(0, 2).join('/');
    const row = rows.get(folder) ?? { changes: 0, near: 0, edge: 0, unseen: 0 };
    rows.set(folder, row);
    row.changes += 1;
    if (result.by.length === 0) row.unseen += 1;
    else row[suites.edge.includes(result.by[0]) ? 'edge' : 'near'] += 1;
  }
  console.table(Object.fromEntries([...rows].sort(([a], [b]) => (a < b ? -1 : 1))));
  if (isAgain) console.log(`${chosen.length - lost} of ${chosen.length} caught again`);
}

function mixed(id) {
  return createHash('sha256').update(id).digest('hex');
}

function sorted(object) {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function readText(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function readJson(path) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
