import type { RequestBounds } from '../../../core/decision/request';

/** A body that is not a request (`malformed`), or one beyond the bounds (`too_much`): what is wrong and where. */
export interface MalformedBody {
  readonly kind: 'malformed' | 'too_much';
  /** A lowercase sentence that names the place, the value and what was expected. */
  readonly message: string;
  /** Path of the value (`descriptors[0].entries[1].key`), `body` for the whole. */
  readonly where: string;
  /** Place in the text, counted from 1. */
  readonly line: number;
  readonly column: number;
}

/** How the reader leaves; caught where the reading began. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
  readonly code = 'malformed_json';
  readonly body: MalformedBody;
  constructor(body: MalformedBody) {
    super(body.message);
    this.body = body;
  }
}

/** A place in a JSON text (RFC 8259). */
export interface Cursor {
  readonly text: string;
  readonly bounds: RequestBounds;
  at: number;
  /** Names and indices that lead to the value at hand; for messages only. */
  readonly path: (string | number)[];
}

export function createCursor(text: string, bounds: RequestBounds): Cursor {
  return { text, bounds, at: 0, path: [] };
}

/** What a caller's own text is cut to in a message. */
const MAX_QUOTED_LENGTH = 64;

/** Leaves the reader. `reason` continues the path: `is a number, expected a string`. */
export function fail(cursor: Cursor, reason: string, at = cursor.at): never {
  return leave(cursor, 'malformed', reason, at);
}

/** The same for a request that goes beyond a bound. */
export function refuse(cursor: Cursor, reason: string, at = cursor.at): never {
  return leave(cursor, 'too_much', reason, at);
}

function leave(
  { text, path }: Cursor,
  kind: MalformedBody['kind'],
  reason: string,
  at: number,
): never {
  const where = pathText(path);
  let line = 1;
  let lineStart = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', lineStart)) {
    line += 1;
    lineStart = end + 1;
  }
  const message = `${where} ${reason}`;
  throw new MalformedJson({ kind, message, where, line, column: at - lineStart + 1 });
}

function pathText(path: readonly (string | number)[]): string {
  if (path.length === 0) return 'body';
  return path
    .map((step) => (typeof step === 'number' ? `[${String(step)}]` : `.${step}`))
    .join('')
    .replace(/^\./, '');
}

/** A text of the caller, cut and escaped, for a message. */
export function quoted(text: string): string {
  const isLong = text.length > MAX_QUOTED_LENGTH;
  return JSON.stringify(isLong ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text);
}

/** The next character after white space, not taken; an empty text at the end. */
export function peek(cursor: Cursor): string {
  const { text } = cursor;
  let { at } = cursor;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) break;
    at += 1;
  }
  cursor.at = at;
  return text.charAt(at);
}

/** Takes `character` if it is the next one. */
export function take(cursor: Cursor, character: string): boolean {
  if (peek(cursor) !== character) return false;
  cursor.at += 1;
  return true;
}

/** Takes `true`, `false` or `null` if it is the next word. */
export function takeWord(cursor: Cursor, word: 'true' | 'false' | 'null'): boolean {
  peek(cursor);
  if (!cursor.text.startsWith(word, cursor.at)) return false;
  cursor.at += word.length;
  return true;
}

/** What stands at the cursor, for messages: `a number`. */
export function describe(cursor: Cursor): string {
  const next = peek(cursor);
  if (next === '') return 'at its end';
  if (next === '"') return 'a string';
  if (next === '{') return 'an object';
  if (next === '[') return 'a list';
  if (/[-0-9]/.test(next)) return 'a number';
  if (/^(true|false)\b/.test(cursor.text.slice(cursor.at, cursor.at + 6))) return 'a boolean';
  if (cursor.text.startsWith('null', cursor.at)) return 'null';
  return `not JSON (${quoted(next)})`;
}
