import type { RequestBounds } from '../../../core/decision/request';
import { readList, sortOf, type Dialect, type Field } from '../../../fields/record';

/** A body that is not a request (`malformed`), or one beyond the bounds (`too_much`): the mistake and its place. */
export interface MalformedBody {
  readonly kind: 'malformed' | 'too_much';
  /** A lowercase sentence that names the place, the value and what was expected. */
  readonly message: string;
  /** Path of the value (`descriptors[0].entries[1].key`), `body` for the whole. */
  readonly where: string;
  /** Position in the text, counted from 1; only for a body that is not JSON. */
  readonly line?: number;
  readonly column?: number;
}

/** Leaves the reader; caught where the reading began. */
export class MalformedJson extends Error {
  override readonly name = 'MalformedJson';
  readonly code = 'malformed_json';
  readonly body: MalformedBody;
  constructor(body: MalformedBody) {
    super(body.message);
    this.body = body;
  }
}

/** A value of the parsed body, and the path to it. */
export interface JsonField extends Field {
  readonly bounds: RequestBounds;
}

/** Leaves the reader. `reason` continues the path: `is a number, expected a string`. */
export function refuse(
  { path }: Pick<Field, 'path'>,
  reason: string,
  kind: MalformedBody['kind'] = 'malformed',
): never {
  const where = path === '' ? 'body' : path;
  throw new MalformedJson({ kind, message: `${where} ${reason}`, where });
}

/** Proto3 JSON: each field under its camelCase or snake_case name, nothing else; reading ends with the first mistake. */
export const PROTO_JSON: Dialect = {
  refuse: (path, reason) => refuse({ path }, reason),
  inKnownOrder: false,
  separator: '.',
  show: sortOf,
  noMap: (value) => `is ${sortOf(value)}, expected an object`,
  unknown: (name, known) => `has no field ${quoted(name)}, expected one of ${known.join(', ')}`,
  nameOf: (written) => written.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
};

/** Reads a list of at most `max` items, a bound that `setting` names. */
export function readBounded<Item>(
  field: JsonField,
  readItem: (field: JsonField) => Item,
  setting: string,
  max: number,
): readonly Item[] {
  if (Array.isArray(field.value) && field.value.length > max)
    refuse(field, `has more items than ${setting} (${String(max)})`, 'too_much');
  return readList(field, readItem);
}

/** Maximal length of a client's own text in a message. */
const MAX_QUOTED_LENGTH = 64;

/** A client's text, cut and escaped, for a message. */
export function quoted(text: string): string {
  const isLong = text.length > MAX_QUOTED_LENGTH;
  return JSON.stringify(isLong ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text);
}
