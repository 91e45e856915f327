import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const SRC = join(__dirname, '../../../src');

/** "a file that is no socket": say "is not a socket". */
const RIDDLE = /(?<!\bthere )\b(?:is|are) no (?!longer\b)/i;

/** The texts of all string literals and of all parts of templates. */
function textsOf(file: string): readonly string[] {
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node);
    if (isText || ts.isTemplateMiddle(node) || ts.isTemplateTail(node)) texts.push(node.text);
    ts.forEachChild(node, visit);
  };
  const code = readFileSync(join(SRC, file), 'utf8');
  visit(ts.createSourceFile(file, code, ts.ScriptTarget.Latest));
  return texts;
}

/** The stores' texts are checked by what operators and callers get of them (test/chaos/faults). */
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) =>
  /\.m?ts$/.test(name),
);

it('no message says that something "is no" other thing', () => {
  const riddles = files.flatMap((file) =>
    textsOf(file)
      .filter((text) => RIDDLE.test(text))
      .map((text) => `${file}: ${text}`),
  );
  expect(files.length).toBeGreaterThan(300);
  expect(riddles).toEqual([]);
});
