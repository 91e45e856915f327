import type { RequestBounds } from '../../../core/decision/request';

/** A body that is not a request (`malformed`), or one beyond the bounds (`too_much`): what is wrong and where. */
export interface MalformedBody {
  readonly kind: 'malformed' | 'too_much';
  /** A lowercase sentence that names the place, the value and what was expected. */
  readonly message: string;
  /** Path of the value (`descriptors[0].entries[1].key`), `body` for the whole. */
  readonly where: string;
  /** Place in the text, counted from 1; only of a body that is not JSON. */
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
export interface Field {
  readonly value: unknown;
  readonly path: string;
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

/** How each field of a message is read; null stands for the default. */
export type Readers<T> = { readonly [Name in keyof T]: (field: Field) => T[Name] };

/** Reads a proto3 JSON message: each field under its camelCase or snake_case name, nothing else. */
export function readMessage<T extends object>(field: Field, readers: Readers<T>, defaults: T): T {
  const { value, path } = field;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return refuse(field, `is ${describe(value)}, expected an object`);
  }
  const message = { ...defaults };
  const seen = new Set<string>();
  for (const [written, inner] of Object.entries(value)) {
    const name = written.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (!Object.hasOwn(readers, name)) {
      const known = Object.keys(readers).join(', ');
      refuse(field, `has no field ${quoted(written)}, expected one of ${known}`);
    }
    if (seen.has(name)) refuse(field, `has the field ${written} twice`);
    seen.add(name);
    if (inner === null) continue;
    const known = name as keyof T;
    const at = path === '' ? written : `${path}.${written}`;
    message[known] = readers[known]({ ...field, value: inner, path: at });
  }
  return message;
}

/** Reads a list of at most `max` items, a bound that `setting` names. */
export function readList<Item>(
  field: Field,
  readItem: (field: Field) => Item,
  setting: string,
  max: number,
): readonly Item[] {
  const { value, path } = field;
  if (!Array.isArray(value)) return refuse(field, `is ${describe(value)}, expected a list`);
  if (value.length > max) {
    return refuse(field, `has more items than ${setting} (${String(max)})`, 'too_much');
  }
  return value.map((item: unknown, at) =>
    readItem({ ...field, value: item, path: `${path}[${String(at)}]` }),
  );
}

/** What a value is, for messages: `a number`. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** What a client's own text is cut to in a message. */
const MAX_QUOTED_LENGTH = 64;

/** A text of the client, cut and escaped, for a message. */
export function quoted(text: string): string {
  const isLong = text.length > MAX_QUOTED_LENGTH;
  return JSON.stringify(isLong ? `${text.slice(0, MAX_QUOTED_LENGTH)}…` : text);
}
