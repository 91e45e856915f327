import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SCRIPT = join(__dirname, '../../scripts/release.mjs');
const MANIFEST = {
  name: 'thing',
  version: '1.2.3',
  license: 'MIT',
  scripts: { 'test:release': 'exit 0' },
};

let folder: string;
const git = (...words: readonly string[]) =>
  execFileSync('git', words, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
const write = (name: string, text: string, mode = 0o644) => {
  writeFileSync(join(folder, name), text, { mode });
};

/** A repository that can be released. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-release-'));
  mkdirSync(join(folder, '.ci'));
  write('package.json', JSON.stringify(MANIFEST));
  const lock = { ...MANIFEST, lockfileVersion: 3, packages: { '': MANIFEST } };
  write('package-lock.json', JSON.stringify(lock));
  write('CHANGELOG.md', '# Changelog\n\n## 1.2.3\n');
  write('.gitignore', '.cache/\n');
  write('.ci/run', '#!/bin/sh\nexit 0\n', 0o755);
  git('init', '--quiet');
  git('config', 'user.name', 'A');
  git('config', 'user.email', 'a@example.com');
  git('add', '.');
  git('commit', '--quiet', '--message', 'One');
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const release = () => spawnSync(process.execPath, [SCRIPT], { cwd: folder, encoding: 'utf8' });

function commit(name: string, text: string): void {
  write(name, text);
  git('commit', '--quiet', '--all', '--message', 'Two');
}

it.each<[string, () => unknown, RegExp]>([
  [
    'a changed file',
    () => {
      write('package.json', '{}');
    },
    /not clean before the tests/,
  ],
  [
    'a new file',
    () => {
      write('new', '');
    },
    /not clean before the tests:\n\?\? new/,
  ],
  [
    'no heading for the version',
    () => {
      commit('CHANGELOG.md', '## 1.2.30\n');
    },
    /no heading "## 1.2.3"/,
  ],
  ['the tag of an earlier release', () => git('tag', 'v1.2.3'), /the tag v1.2.3 exists/],
  [
    'red tests',
    () => {
      commit('.ci/run', '#!/bin/sh\nexit 3\n');
    },
    /\.ci\/run failed/,
  ],
  [
    'red tests of the release',
    () => {
      const scripts = { 'test:release': 'exit 3' };
      commit('package.json', JSON.stringify({ ...MANIFEST, scripts }));
    },
    /npm run test:release failed/,
  ],
  [
    'tests that leave something behind',
    () => {
      commit('.ci/run', '#!/bin/sh\ntouch left\n');
    },
    /not clean after the tests:\n\?\? left/,
  ],
])('refuses %s, and tags nothing new', (_what, spoil, reason) => {
  const tagsBefore = (spoil(), git('tag'));
  const { status, stderr } = release();
  expect(stderr).toMatch(reason);
  expect(status).toBe(1);
  expect(git('tag')).toBe(tagsBefore);
});

it('tags a clean tree with green tests, and builds the package and the list of its parts', () => {
  const { status, stderr } = release();
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('no release')]);
  expect(git('tag')).toBe('v1.2.3\n');
  expect(git('status', '--porcelain')).toBe('');
  const bom = JSON.parse(
    readFileSync(join(folder, '.cache/release/thing-1.2.3.cdx.json'), 'utf8'),
  ) as { readonly bomFormat: string; readonly metadata: { readonly component: object } };
  expect(bom).toMatchObject({
    bomFormat: 'CycloneDX',
    metadata: { component: { name: 'thing', version: '1.2.3', type: 'application' } },
  });
  expect(readFileSync(join(folder, '.cache/release/thing-1.2.3.tgz')).length).toBeGreaterThan(0);
});
