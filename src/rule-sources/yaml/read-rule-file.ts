import { Composer, isScalar, Lexer, Parser, type CST, type Document } from 'yaml';
import type { RuleProblem } from '../../fields/problem';
import { MAX_DEPTH, type Located } from '../../fields/located';
import type { RuleSource } from '../../core/rules/parse/parse-rule-files';
import { createReport, type Report } from '../../fields/report';
import { locateTree, createPlaceOf, type PlaceOf } from './locate-tree';
import { reportSyntax } from './syntax';
import { isUtf8 } from 'node:buffer';

/**
 * Reads one YAML 1.1 rule file into a located tree, for `parseRuleFiles`. Bytes are checked for their encoding, a string is used as
 * it is. Never throws; every syntax error is a problem.
 */
export function readRuleFile(file: string, content: string | Uint8Array): RuleSource {
  const problems: RuleProblem[] = [];
  const report = createReport(file, problems);
  const text = decodeText(content, report);
  const root = text === undefined ? undefined : readText(text, report);
  return { file, root, problems };
}

/** Scalars stay strings here; their readers resolve them. */
const OPTIONS = { version: '1.1', schema: 'failsafe', uniqueKeys: false } as const;

function readText(text: string, report: Report): Located | undefined {
  const placeOf = createPlaceOf(text);
  if (!checkCharacters(text, placeOf, report)) return undefined;
  const parsed = parseTokens(text);
  if ('tooDeepAt' in parsed) {
    const message = `lists and maps are nested deeper than ${String(MAX_DEPTH)}`;
    report.error(placeOf(parsed.tooDeepAt), 'too-deep', message);
    return undefined;
  }
  const documents = new Composer(OPTIONS).compose(parsed.tokens, true, text.length);
  const first = documents.next();
  if (first.done === true) return undefined;
  const second = documents.next();
  reportSyntax(first.value, { text, placeOf }, report);
  if (second.done !== true && !isEmpty(second.value)) {
    const message = 'only the first document of a file is used; this one is ignored';
    report.warning(placeOf(second.value.range[0]), 'extra-document', message);
  }
  if (first.value.errors.length > 0) return undefined;
  return isEmpty(first.value) ? undefined : locateTree(first.value.contents, placeOf, report);
}

/**
 * The syntax tree of a YAML text. Gives up, with the offset reached, where lists and maps are nested too deeply: composing such a
 * tree would overflow the stack, and near its end a regular expression that cannot be compiled ends the whole process.
 */
export function parseTokens(
  text: string,
): { readonly tokens: CST.Token[] } | { readonly tooDeepAt: number } {
  const parser = new Parser();
  const tokens: CST.Token[] = [];
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    if (parser.stack.length > MAX_DEPTH) return { tooDeepAt: parser.offset };
  }
  for (const token of parser.end()) tokens.push(token);
  return { tokens };
}

const NOT_ALLOWED =
  /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/u;

function checkCharacters(text: string, placeOf: PlaceOf, report: Report): boolean {
  const found = NOT_ALLOWED.exec(text);
  if (found === null) return true;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  const message = `not valid YAML: the character U+${code} is allowed only as an escape in double quotes`;
  report.error(placeOf(found.index), 'yaml-syntax', message);
  return false;
}

function isEmpty({ contents }: Document.Parsed): boolean {
  return contents === null || (isScalar(contents) && contents.source === '');
}

/** The text of a file: UTF-8, or UTF-16 with a byte order mark. Undefined, and reported, when the bytes are neither. */
function decodeText(content: string | Uint8Array, report: Report): string | undefined {
  if (typeof content === 'string') return normalize(content);
  const text = textOfBytes(content);
  if (text !== undefined) return text;
  report.error(
    findInvalid(content),
    'invalid-encoding',
    'the file is not valid UTF-8 from here on',
  );
  return undefined;
}

/** The text without a byte order mark; undefined when the bytes are neither UTF-8 nor UTF-16 with a mark. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  const encoding = encodingOf(bytes);
  if (encoding !== 'utf-8') return normalize(new TextDecoder(encoding).decode(bytes));
  return isUtf8(bytes) ? normalize(new TextDecoder().decode(bytes)) : undefined;
}

function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Other line ends in YAML 1.1 (§4.1.4): a carriage return alone, and three of Unicode's. */
const OTHER_LINE_ENDS = /\r(?!\n)|[\x85\u2028\u2029]/g;

/** Removes the byte order mark, and turns all line ends into line feeds. */
function normalize(text: string): string {
  const unmarked = text.startsWith('\ufeff') ? text.slice(1) : text;
  return unmarked.replaceAll(OTHER_LINE_ENDS, '\n');
}

const LINE_FEED = 0x0a;

function findInvalid(bytes: Uint8Array) {
  let line = 1;
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(LINE_FEED, start);
    const content = bytes.subarray(start, end === -1 ? undefined : end);
    if (end === -1 || !isUtf8(content)) {
      const column = new TextDecoder().decode(content).indexOf('\ufffd') + 1;
      return { line, column };
    }
    line += 1;
    start = end + 1;
  }
}
