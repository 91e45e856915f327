import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '../../..');
const page = readFileSync(join(ROOT, 'docs/internals/why-not-8000-lines.md'), 'utf8');
/** How far a figure may be from the tree before the page has to be counted anew. */
const MOST_APART = 0.2;

/** The parts of the table: the folders of each, and the lines that the page says. */
const parts = [...page.matchAll(/^\|[^|]+\|((?: +`[^`]+`,?)+ *)\| +([\d,]+) +\|/gm)].map(
  ([, folders = '', lines = '']) => ({
    folders: [...folders.matchAll(/`([^`]+)`/g)].map(([, folder = '']) => folder),
    lines: Number(lines.replaceAll(',', '')),
  }),
);

/** Lines of each folder of the table: a file counts for the nearest one above it. */
function countLines(): ReadonlyMap<string, number> {
  const counted = new Map(parts.flatMap(({ folders }) => folders.map((folder) => [folder, 0])));
  for (const root of ['src', 'streams'])
    for (const name of readdirSync(join(ROOT, root), { recursive: true, encoding: 'utf8' })) {
      const file = join(root, name);
      if (!statSync(join(ROOT, file)).isFile()) continue;
      const folder = nearestOf(counted, dirname(file));
      const lines = readFileSync(join(ROOT, file), 'utf8').split('\n').length - 1;
      counted.set(folder, (counted.get(folder) ?? 0) + lines);
    }
  return counted;
}

function nearestOf(counted: ReadonlyMap<string, number>, folder: string): string {
  if (folder === '.') throw new Error('the page has a part for every folder');
  return counted.has(folder) ? folder : nearestOf(counted, dirname(folder));
}

it('counts every folder of the product once, by figures that the tree still has', () => {
  const counted = countLines();
  const now = parts.map(({ folders, lines }) => ({
    folders,
    lines,
    now: folders.reduce((sum, folder) => sum + (counted.get(folder) ?? 0), 0),
  }));
  expect(parts.length).toBeGreaterThan(20);
  expect(now.filter((part) => Math.abs(part.now / part.lines - 1) > MOST_APART)).toEqual([]);
});
