import { describe, fail, peek, quoted, refuse, take, takeWord, type Cursor } from './cursor';
import { readString } from './scalars';

/** Reads one field's value into the message that is being built. */
type ReadField<Draft> = (cursor: Cursor, draft: Draft) => void;

/** The fields of a message under both of their JSON names. */
export interface Fields<Draft> {
  readonly byName: ReadonlyMap<string, { readonly bit: number; readonly read: ReadField<Draft> }>;
  readonly names: string;
}

/** Fields by their camelCase names; the snake_case ones follow from them. At most 31. */
export function fieldsOf<Draft>(
  readers: Readonly<Record<string, ReadField<Draft>>>,
): Fields<Draft> {
  const names = Object.keys(readers);
  const byName = new Map<string, { readonly bit: number; readonly read: ReadField<Draft> }>();
  Object.entries(readers).forEach(([name, read], index) => {
    const field = { bit: 1 << index, read };
    byName.set(name, field);
    byName.set(
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      field,
    );
  });
  return { byName, names: names.join(', ') };
}

/**
 * Reads an object as a proto3 JSON message: either name of a field, each once, null for its default,
 * nothing else. Its depth is the depth of the schema: nothing unknown is ever read through.
 */
export function readMessage<Draft>(cursor: Cursor, fields: Fields<Draft>, draft: Draft): Draft {
  if (!take(cursor, '{')) return fail(cursor, `is ${describe(cursor)}, expected an object`);
  if (take(cursor, '}')) return draft;
  let seen = 0;
  do {
    seen = readField(cursor, fields, draft, seen);
  } while (take(cursor, ','));
  if (!take(cursor, '}')) fail(cursor, `is ${describe(cursor)} after a value, expected "," or "}"`);
  return draft;
}

function readField<Draft>(
  cursor: Cursor,
  fields: Fields<Draft>,
  draft: Draft,
  seen: number,
): number {
  if (peek(cursor) !== '"') fail(cursor, `is ${describe(cursor)}, expected the name of a field`);
  const start = cursor.at;
  const name = readString(cursor);
  const field = fields.byName.get(name);
  if (field === undefined) {
    return fail(cursor, `has no field ${quoted(name)}, expected one of ${fields.names}`, start);
  }
  if ((seen & field.bit) !== 0) fail(cursor, `has the field ${name} twice`, start);
  if (!take(cursor, ':')) fail(cursor, `is ${describe(cursor)} after a name, expected ":"`);
  cursor.path.push(name);
  if (!takeWord(cursor, 'null')) field.read(cursor, draft);
  cursor.path.pop();
  return seen | field.bit;
}

/** Most items that a list may have, and the setting that says so. */
export interface ListBound {
  readonly setting: string;
  readonly max: number;
}

/** Reads a list, one `readItem` after the other; what is beyond the bound is not read. */
export function readList<Item>(
  cursor: Cursor,
  readItem: (cursor: Cursor) => Item,
  { setting, max }: ListBound,
): Item[] {
  if (!take(cursor, '[')) return fail(cursor, `is ${describe(cursor)}, expected a list`);
  const items: Item[] = [];
  if (take(cursor, ']')) return items;
  do {
    if (items.length === max) refuse(cursor, `has more items than ${setting} (${String(max)})`);
    cursor.path.push(items.length);
    items.push(readItem(cursor));
    cursor.path.pop();
  } while (take(cursor, ','));
  if (!take(cursor, ']')) fail(cursor, `is ${describe(cursor)} after a value, expected "," or "]"`);
  return items;
}
