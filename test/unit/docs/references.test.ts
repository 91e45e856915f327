import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';

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

/** The numbers that docs/behaviour.md has: `2` for a heading, `2.4` for an item of its list. */
function sectionsOfBehaviour(): ReadonlySet<string> {
  const sections = new Set<string>();
  let heading = '';
  for (const line of readFileSync(join(ROOT, 'docs/behaviour.md'), 'utf8').split('\n')) {
    heading = /^## (\d+)\./.exec(line)?.[1] ?? heading;
    const item = /^(\d+)\. /.exec(line)?.[1];
    sections.add(item === undefined ? heading : `${heading}.${item}`);
  }
  return sections;
}

describe('a comment', () => {
  it('refers only to sections that docs/behaviour.md has, or to those of a named standard', () => {
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
