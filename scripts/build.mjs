// Builds dist, compiling again only what a change reaches. With --when-changed not at all unless something that the build
// reads has changed since the last one: `npm start` a second time starts at once.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const NOTE = 'dist/.built-from';
// Beside what it says is built: without dist there is no such file either, and all is compiled.
const COMPILED = 'dist/.tsbuildinfo';
const FOLDERS = ['src', 'streams'];
const FILES = [
  'package.json',
  'tsconfig.json',
  'scripts/build-client.mjs',
  'scripts/copy-lua.mjs',
  // npm writes it at each installation: other versions of libraries have other types.
  'node_modules/.package-lock.json',
];

/** Names, sizes and times of change, as `make` looks at them: to read every file would take longer than Node's start. */
function describeSources() {
  const files = [...FILES];
  for (const folder of FOLDERS)
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) files.push(join(entry.parentPath, entry.name));
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const stat = statSync(file, { throwIfNoEntry: false });
    hash.update(`${file} ${stat === undefined ? 'none' : `${stat.size} ${stat.mtimeMs}`}\n`);
  }
  return hash.digest('hex');
}

const run = (...words) => execFileSync(process.execPath, words, { stdio: 'inherit' });

// Before the build: what changes while it runs is built the next time.
const sources = describeSources();
if (process.argv[2] === '--when-changed') {
  if (existsSync(NOTE) && readFileSync(NOTE, 'utf8') === sources) process.exit();
  console.log('building … (some ten seconds; later starts do so only after a change)');
}
rmSync(NOTE, { force: true });
try {
  run('node_modules/typescript/bin/tsc', '--incremental', '--tsBuildInfoFile', COMPILED);
  run('scripts/copy-lua.mjs');
  run('scripts/build-client.mjs');
  run('scripts/make-executable.mjs');
} catch (error) {
  // The compiler has said why.
  process.exit(error.status ?? 1);
}
writeFileSync(NOTE, sources);
