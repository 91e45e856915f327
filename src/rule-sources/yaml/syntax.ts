import { Lexer, type Document, type YAMLError } from 'yaml';
import type { Report } from '../../fields/report';
import type { PlaceOf } from './locate-tree';

/** A YAML text, and how to find places in it. */
export interface SourceText {
  readonly text: string;
  readonly placeOf: PlaceOf;
}

/** A mistake where the writer of the file can find it: where it begins, not where the parser gave up. */
interface Mistake {
  readonly offset: number;
  readonly message: string;
}

/** After this many errors the rest tells nothing new. */
const MAX_SYNTAX_ERRORS = 50;

/** Reports the errors and warnings of the YAML parser for a document. */
export function reportSyntax(
  { errors, warnings }: Document.Parsed,
  source: SourceText,
  report: Report,
): void {
  const { placeOf } = source;
  for (const { offset, message } of toMistakes(errors.slice(0, MAX_SYNTAX_ERRORS), source.text)) {
    report.error(placeOf(offset), 'yaml-syntax', `not valid YAML: ${message}`);
  }
  const next = errors[MAX_SYNTAX_ERRORS];
  if (next !== undefined) {
    const count = String(errors.length - MAX_SYNTAX_ERRORS);
    const message = `not valid YAML: ${count} more errors from here on`;
    report.error(placeOf(next.pos[0]), 'yaml-syntax', message);
  }
  for (const warning of warnings) {
    if (warning.code === 'TAG_RESOLVE_FAILED') continue;
    report.warning(placeOf(warning.pos[0]), 'yaml-remark', toMessage(warning));
  }
}

function toMistakes(errors: readonly YAMLError[], text: string): readonly Mistake[] {
  const unclosed = errors.find(isUnclosedQuote);
  const opening = unclosed === undefined ? undefined : lastQuoteBefore(unclosed.pos[0], text);
  return errors.flatMap((error) => {
    if (error === unclosed && opening !== undefined) return [unclosedQuote(opening, text)];
    if (isTooDeep(error, errors)) return [tooDeepLine(error, text)];
    if (isSecondOfTooDeep(error, errors)) return [];
    return [{ offset: error.pos[0], message: toMessage(error) }];
  });
}

function isUnclosedQuote({ code, message }: YAMLError): boolean {
  return code === 'MISSING_CHAR' && /^Missing closing ["']quote/.test(message);
}

/** The parser reports where it missed the end of the quoted text, which may be the end of the file. */
function lastQuoteBefore(end: number, text: string): number | undefined {
  let offset = 0;
  let last: number | undefined;
  for (const lexeme of new Lexer().lex(text)) {
    if (offset >= end) break;
    if (lexeme.startsWith('"') || lexeme.startsWith("'")) last = offset;
    if (!MARKS.has(lexeme)) offset += lexeme.length;
  }
  return last;
}

/** The lexer's marks between the pieces of the text: start of a document, end of a flow collection, a scalar. */
const MARKS = new Set(['\u0002', '\u0018', '\u001f']);

function unclosedQuote(offset: number, text: string): Mistake {
  const quote = text.charAt(offset);
  return { offset, message: `the quote ${quote} that opens here is never closed` };
}

/** A line that is deeper than the key above it makes one text of that key's value and this line's key. */
function isTooDeep({ code, pos }: YAMLError, errors: readonly YAMLError[]): boolean {
  if (code !== 'BLOCK_AS_IMPLICIT_KEY') return false;
  return errors.some((other) => isKeyOfSeveralLines(other) && other.pos[0] === pos[0]);
}

function isSecondOfTooDeep(error: YAMLError, errors: readonly YAMLError[]): boolean {
  if (!isKeyOfSeveralLines(error)) return false;
  return errors.some((other) => other.pos[0] === error.pos[0] && isTooDeep(other, errors));
}

function isKeyOfSeveralLines({ code }: YAMLError): boolean {
  return code === 'MULTILINE_IMPLICIT_KEY';
}

function tooDeepLine({ pos }: YAMLError, text: string): Mistake {
  const next = /\n\s*(?=\S)/g;
  next.lastIndex = pos[0];
  const offset = next.test(text) ? next.lastIndex : pos[0];
  const message =
    'this line is indented too deep: expected it in the same column as the key above, which already has a value';
  return { offset, message };
}

function toMessage(error: YAMLError): string {
  const { code, message } = error;
  if (isKeyOfSeveralLines(error)) {
    return 'expected a key and its value on this line, with a colon and a space between them';
  }
  if (code === 'BAD_ALIAS' && message === 'Alias cannot be an empty string') {
    return 'a * that is not in quotes names an anchor: quote it, "*", or leave value out to match any value';
  }
  const line = message.replaceAll(/\s+/g, ' ');
  return line.charAt(0).toLowerCase() + line.slice(1);
}
