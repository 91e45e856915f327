import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const page = read('docs/internals/what-really-happens.md');
/** The cells of each row, without heads and lines. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  )
  .filter(([first = '']) => first !== 'What happens' && !first.startsWith('---'));
const findings = readdirSync(join(ROOT, 'findings'));

it('says of each row what was seen when, and what Weir does', () => {
  expect(rows.length).toBeGreaterThan(15);
  for (const cells of rows) {
    expect(cells).toHaveLength(4);
    expect(cells[1]).toMatch(/\d{4}|^the same$/);
    expect(cells[3]).toMatch(/^Weir: /);
    expect(cells[3]).toMatch(/`test\/|\]\(|the same test|\bissue\b/);
  }
});

it('names only tests that exist', () => {
  const named = [...page.matchAll(/`(test\/[\w./-]+)`(?: › "([^"]+)")?/g)];
  expect(named.length).toBeGreaterThan(8);
  const lost = named.filter(([, file = '', name = '']) => {
    const isThere = existsSync(join(ROOT, file));
    return !isThere || !read(file).includes(name);
  });
  expect(lost.map(([text]) => text)).toEqual([]);
});

it('names every finding, and only those that exist', () => {
  const named = [...page.matchAll(/`findings\/([\w.-]+\.sh)`/g)].map(([, name]) => name);
  expect([...new Set(named)].sort()).toEqual(
    findings.filter((name) => name.endsWith('.sh')).sort(),
  );
});

it.each(findings)('finding %s says what it installs, what was seen and when', (name) => {
  const text = read(`findings/${name}`);
  expect(text).toMatch(/^#!\/usr\/bin\/env bash\n# \S/);
  expect(text).toMatch(/^# (?:Packages?|Needs): .*\d/m);
  expect(text).toMatch(/^# Seen on \d{4}-\d\d-\d\d/m);
  expect(text).toMatch(/Exits with 1 when/);
  expect(text).toMatch(/^set -euo pipefail$/m);
  expect(text).toMatch(/^folder=\$\(mktemp -d\)$/m);
  expect(text).toMatch(/^trap '.*rm -rf "\$folder"' EXIT$/m);
});
