import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, extname, join, relative } from 'node:path';

const ROOT = join(__dirname, '../../..');
const CODE = ['src', 'streams', 'test', 'ui', 'scripts', 'proto'];
const STANDARDS = /RFC \d+|W3C Trace Context|YAML 1\.1|HPACK|HTTP\/2/;

function filesBelow(folder: string): readonly string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
    join(folder, name),
  );
}

const files = [...CODE, 'docs', 'examples'].flatMap(filesBelow);
const names = new Set(files.map((file) => basename(file)));
const sources = files.filter((file) => ['.ts', '.mts', '.mjs', '.cjs'].includes(extname(file)));

interface Comment {
  readonly file: string;
  readonly text: string;
}

/** Block and line comments; strings that look like one are rare enough to be read as one. */
function commentsOf(file: string): readonly Comment[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const found = text.match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm) ?? [];
  return found.map((comment) => ({ file, text: comment }));
}

const comments = sources.flatMap(commentsOf);

/** The numbers that docs/internals/behaviour.md has: `2` for a heading, `2.4` for an item of its list. */
function sectionsOfBehaviour(): ReadonlySet<string> {
  const sections = new Set<string>();
  let heading = '';
  for (const line of readFileSync(join(ROOT, 'docs/internals/behaviour.md'), 'utf8').split('\n')) {
    heading = /^## (\d+)\./.exec(line)?.[1] ?? heading;
    const item = /^(\d+)\. /.exec(line)?.[1];
    sections.add(item === undefined ? heading : `${heading}.${item}`);
  }
  return sections;
}

describe('a comment', () => {
  it('refers only to sections that docs/internals/behaviour.md has, or to those of a named standard', () => {
    const sections = sectionsOfBehaviour();
    const lost = comments.flatMap(({ file, text }) => {
      if (STANDARDS.test(text)) return [];
      const numbers = [...text.matchAll(/§ ?([\d.]*\d)/g)].map((match) => match[1] ?? '');
      const unresolved = numbers.filter(
        (number) => !text.includes('behaviour.md') || !sections.has(number),
      );
      return unresolved.map((number) => `${file}: §${number}`);
    });
    expect(lost).toEqual([]);
  });

  it('names only files that are in the repository', () => {
    const lost = comments.flatMap(({ file, text }) => {
      const paths = [...text.matchAll(/[\w./-]*[\w-]\.(?:md|ts|mjs|cjs|proto)\b/g)].map(
        ([path]) => path,
      );
      const missing = paths.filter(
        (path) => !existsSync(join(ROOT, path)) && !names.has(basename(path)),
      );
      return missing.map((path) => `${file}: ${path}`);
    });
    expect(lost).toEqual([]);
  });
});

const pages = [
  ...[...filesBelow('docs'), ...filesBelow('examples')].filter((file) => file.endsWith('.md')),
  ...readdirSync(ROOT).filter((file) => file.endsWith('.md')),
];
const CODE_BLOCK = /^```[^]*?^```$/gm;
const proseOf = (page: string) => readFileSync(join(ROOT, page), 'utf8').replaceAll(CODE_BLOCK, '');

/** The anchors of a page's headings, as GitHub makes them. */
const anchorsOf = (page: string) =>
  [...proseOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );

/** Files in backticks: `run-alone.ts`, `rules/match.ts`, and any path below a folder of ours. */
const NAMED_FILE =
  /`((?:[\w.-]+\/)*[\w.-]+\.(?:md|m?ts|mjs|cjs|proto|sh|py)|(?:src|streams|test|scripts|proto|ui|docs|examples|deploy|findings)\/[\w./-]*)`/g;

/** A changelog names the files of its time, and pages on gateways those of other repositories. */
const isOfElsewhere = (page: string) =>
  page === 'CHANGELOG.md' || page.startsWith(join('docs', 'gateways'));

it('pages name only files and folders that are in the repository', () => {
  const named = pages
    .filter((page) => !isOfElsewhere(page))
    .flatMap((page) =>
      [...proseOf(page).matchAll(NAMED_FILE)].map(([, path = '']) => ({ page, path })),
    );
  const lost = named.filter(
    ({ page, path }) =>
      !path.includes('/NAME.') &&
      !existsSync(join(ROOT, path)) &&
      !existsSync(join(ROOT, dirname(page), path)) &&
      !files.some((file) => file.endsWith(`/${path}`) || file.startsWith(`${path}.`)),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(lost.map(({ page, path }) => `${page}: ${path}`)).toEqual([]);
});

it('pages link only to files and headings that exist', () => {
  const links = pages.flatMap((page) =>
    [...proseOf(page).matchAll(/\]\(([^)#:\s]*)(?:#([^)\s]+))?\)/g)].map(
      ([link, path = '', anchor]) => {
        const file = path === '' ? page : join(dirname(page), path);
        const isThere =
          existsSync(join(ROOT, file)) &&
          (anchor === undefined || !file.endsWith('.md') || anchorsOf(file).includes(anchor));
        return { from: `${page}: ${link}`, isThere };
      },
    ),
  );
  expect(links.length).toBeGreaterThan(300);
  expect(links.filter(({ isThere }) => !isThere).map(({ from }) => from)).toEqual([]);
});

/** More than a reader takes in at once: what is for few readers lies in a folder of its subject. */
const MOST_AT_THE_TOP = 20;

it('docs/README.md names each page, and few lie beside it', () => {
  const text = readFileSync(join(ROOT, 'docs/README.md'), 'utf8');
  const own = pages.filter((page) => page.startsWith('docs') && !page.includes('decisions'));
  const unnamed = own.filter(
    (page) => page !== join('docs', 'README.md') && !text.includes(`](${relative('docs', page)})`),
  );
  expect(unnamed).toEqual([]);
  expect(own.filter((page) => dirname(page) === 'docs').length).toBeLessThanOrEqual(
    MOST_AT_THE_TOP,
  );
});
