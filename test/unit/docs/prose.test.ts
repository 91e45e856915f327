import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '../../..');
const MAX_WIDTH = 140;

/** Written by scripts: a paragraph is one line there. */
const GENERATED = new Set(['docs/settings.md', 'docs/internals/faults.md']);

/** Folders whose comments are checked; messages are checked in all of `src`. */
const COMMENTED = ['src', 'streams'];

/** "a file that is no socket": say "is not a socket". */
const RIDDLE = /(?<!\bthere )\b(?:is|are) no (?!longer\b)/i;

/** Words that comments and docs had in place of plain ones, and what to say instead. */
const DIALECT: readonly (readonly [RegExp, string])[] = [
  [RIDDLE, 'is not a'],
  [/\boctets?\b(?!-)/i, 'bytes'],
  [/\b(?:is|are|was|were|not|as) told\b(?! to)/, 'reported, logged, sent'],
  [/(?<!lags )(?<!lag )\bbehind\b(?! (?:Envoy|a proxy)\b)/, 'after'],
  [/\bto be had\b/, 'available'],
];

/** For comments only: words for people, and constructions in place of subject, verb and object. */
const DIALECT_OF_COMMENTS: typeof DIALECT = [
  ...DIALECT,
  [/\bnobody\b/i, 'nothing, no client, never'],
  [/\b(?:for|lived) so long\b/i, 'how long: within this time'],
  [/\bso (?:many|much|few)\b/i, 'at most `most`, this many, a bounded number of'],
  [/\bwhat of\b/i, 'how much of, which part of'],
  [/\bthe same (?:of|at once)\b/i, 'as above, or the subject itself'],
  [/\bsame as (?:none|nothing)\b/i, 'equivalent to a missing one'],
  [/\b(?:becomes?|became|comes|came) of\b/i, 'outcome, result'],
  [/\bas ever\b/i, 'as usual, unchanged'],
  [/\bnothing of\b/i, 'none of'],
  [/\b(?:it|that|which|they) (?:is|are|was|were) none\b/i, 'is not one, is missing, is invalid'],
  [/\b(?:for|in) want of\b/i, 'without, for lack of'],
  [/\b(?:is|are|was|were|be|being) asked\b(?! to)(?<!not asked)/i, 'called, read, used'],
  [/\bg(?:ives?|iven|ave|iving) back\b/i, 'refund, return'],
  [/(?<!\b(?:one|each|some|most|both|all|none|first|last|second) )\bof which\b/i, 'whose, among'],
  [/^(?:\/\*\*?|\/\/) (?:Of|That of|Those of) /, 'for …, the … of'],
  [/\bas far as\b[^.;:]*\bkn(?:ow|own|ows)\b/i, 'known'],
  [/\bwhatever (?:becomes|comes|else)\b/i, 'every, all other, even if'],
  [/\bmeets? (?:a|no|any) (?:limit|rule)\b/i, 'matches'],
  [/\b(?:stands?|stood|seen) so\b/i, 'in this state, by this reading'],
  [/\b(?:says?|said) of\b/i, 'reports, returns, shows'],
  [/\bhears? of\b/i, 'is called with, receives'],
  [/\bof late\b/i, 'recently'],
  [/\bno more than so\b|\bat most so\b/i, 'at most this'],
];

/** The same, for pages alone: in code an ask is a type, and a look a read without a hit. */
const DIALECT_OF_PAGES: typeof DIALECT = [
  ...DIALECT,
  [/\b(?:an?|the|each|every) (?:ask|look)s?\b/, 'a request, a read-only check'],
];

/** The same, for messages. */
const DIALECT_OF_MESSAGES: typeof DIALECT = [
  [RIDDLE, 'is not a'],
  [/\ban? (?:empty )?text\b/, 'a string'],
  [/\bstands?\b/, 'is, is listed, cannot be combined with'],
  [/\bis away\b/, 'is unreachable, is unavailable'],
  [/\bdoes nothing\b/, 'has no effect'],
  [/\btakes? (?:no (?!value)|keys|scripts|messages)\b/, 'accepts, does not accept'],
  [/\b(?:not|is|be) asked\b/, 'called, read, required'],
  [/\bnobody\b/, 'no client, none, or leave it out'],
  [/\bmeets? (?:no|a) (?:limit|rule)\b/, 'matches'],
  [/\bfor want of\b/, 'because there is no'],
  [/\bso that\b/, 'so'],
  [/\bby us\b/, 'by this service'],
];

const filesBelow = (folder: string, name: RegExp): readonly string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => name.test(file))
    .map((file) => join(folder, file));
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

interface Line {
  readonly where: string;
  readonly text: string;
}

/** The lines of a page outside of its blocks of code. */
function proseOf(file: string): readonly Line[] {
  let isCode = false;
  return read(file)
    .split('\n')
    .flatMap((text, at) => {
      if (text.trimStart().startsWith('```')) isCode = !isCode;
      return isCode ? [] : [{ where: `${file}:${String(at + 1)}`, text }];
    });
}

/** All string literals and parts of templates of a source. */
function textsOf(file: string): readonly Line[] {
  const texts: Line[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node);
    if (isText || ts.isTemplateMiddle(node) || ts.isTemplateTail(node))
      texts.push({ where: file, text: node.text });
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest));
  return texts;
}

/** Comments of TypeScript, and those of Lua in its templates. */
function commentsOf(file: string): readonly Line[] {
  const found = read(file).match(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$|^\s*-- .*$/gm) ?? [];
  return found.map((text) => ({ where: file, text: text.replace(/\s+\*?\s*/g, ' ') }));
}

const dialectIn = (lines: readonly Line[], dialect = DIALECT): readonly string[] =>
  lines.flatMap(({ where, text }) =>
    dialect
      .filter(([words]) => words.test(text.replace(/`[^`]*`/g, '')))
      .map(([, better]) => `${where}: say "${better}": ${text}`),
  );

const pages = [
  ...filesBelow('docs', /\.md$/),
  'CHANGELOG.md',
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
]
  .filter((file) => !GENERATED.has(file))
  .flatMap(proseOf);
const sources = filesBelow('src', /\.m?ts$/);

it(`no line of prose is wider than ${String(MAX_WIDTH)} columns`, () => {
  const wide = pages.filter(
    ({ text }) => text.length > MAX_WIDTH && !text.trimStart().startsWith('|'),
  );
  expect(pages.length).toBeGreaterThan(2_000);
  expect(wide.map(({ where }) => where)).toEqual([]);
});

it('no page uses a word of the old dialect', () => {
  expect(dialectIn(pages, DIALECT_OF_PAGES)).toEqual([]);
});

it('no comment uses a word of the old dialect', () => {
  const comments = COMMENTED.flatMap((folder) => filesBelow(folder, /\.m?ts$/)).flatMap(commentsOf);
  expect(comments.length).toBeGreaterThan(100);
  expect(dialectIn(comments, DIALECT_OF_COMMENTS)).toEqual([]);
});

/** Scripts in Lua are literals too. */
const SCRIPT = /\b(?:local function\b|function\()/;

/** The stores' texts are checked by what operators and clients get of them (test/chaos/faults). */
it('no message uses a word of the old dialect', () => {
  const messages = sources.flatMap(textsOf).filter(({ text }) => !SCRIPT.test(text));
  expect(sources.length).toBeGreaterThan(300);
  expect(dialectIn(messages, DIALECT_OF_MESSAGES)).toEqual([]);
});
