/** How records of one sort are read, and how mistakes are reported. */
export interface Dialect {
  /** Called for a mistake; one that throws ends the reading. `reason` continues the path. */
  readonly refuse: (path: string, reason: string) => void;
  /** Whether fields are read in the order of the table, unknown ones last, instead of that of the text. */
  readonly inKnownOrder: boolean;
  /** Separates the path of a map from the name of a field. */
  readonly separator: string;
  /** A value in a message, or only its type. */
  readonly show: (value: unknown) => string;
  /** The message for a value that is not a map. */
  readonly noMap: (value: unknown) => string;
  /** The message for an unknown name. */
  readonly unknown: (name: string, known: readonly string[]) => string;
  /** The canonical name of a written one; undefined: itself. */
  readonly nameOf?: (written: string) => string;
}

/** A value of JSON or YAML and the path to it. */
export interface Field {
  readonly value: unknown;
  readonly path: string;
  readonly dialect: Dialect;
}

/** How each field of a record is read. Absent and null fields have their values in an empty record. */
export type Readers<T, F extends Field = Field> = {
  readonly [Name in keyof T]: (field: F) => T[Name];
};

/** A reader of records with the fields of a table and no others. */
export function recordOf<T extends object, F extends Field>(
  readers: Readers<T, F>,
  empty: T,
): (field: F) => Readonly<T> {
  const names = Object.keys(readers);
  return (field) => {
    const { value, path, dialect } = field;
    if (!isMap(value)) {
      dialect.refuse(path, dialect.noMap(value));
      return empty;
    }
    const record = { ...empty };
    const seen = new Set<string>();
    for (const written of dialect.inKnownOrder ? inOrder(names, value) : Object.keys(value)) {
      const name = nameOf(written, names, field, seen) as keyof T | undefined;
      const inner = value[written] ?? null;
      if (name === undefined || inner === null) continue;
      const at = path === '' ? written : `${path}${dialect.separator}${written}`;
      record[name] = readers[name]({ ...field, value: inner, path: at });
    }
    return record;
  };
}

/** The field for a written name; undefined: unknown, which is reported. */
function nameOf(
  written: string,
  names: readonly string[],
  { path, dialect }: Field,
  seen: Set<string>,
): string | undefined {
  const name = dialect.nameOf?.(written) ?? written;
  if (!names.includes(name)) {
    dialect.refuse(path, dialect.unknown(written, names));
    return undefined;
  }
  if (seen.has(name)) dialect.refuse(path, `has the field ${written} twice`);
  seen.add(name);
  return name;
}

/** The record for empty input: each reader's fallback. */
export function emptyOf<T extends object>(readers: Readers<T>, dialect: Dialect): T {
  const nothing = { value: undefined, path: '', dialect: { ...dialect, refuse: () => undefined } };
  const record: Partial<T> = {};
  for (const name of Object.keys(readers) as (keyof T)[]) record[name] = readers[name](nothing);
  return record as T;
}

function inOrder(names: readonly string[], map: object): readonly string[] {
  const known = names.filter((name) => Object.hasOwn(map, name));
  return [...known, ...Object.keys(map).filter((name) => !names.includes(name))];
}

/** Whether it is a map of JSON, not a list. */
export function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A list, each item read at its index. Something else is reported and read as empty. */
export function readList<F extends Field, T>(field: F, readItem: (field: F) => T): readonly T[] {
  const { value, path } = field;
  if (!Array.isArray(value)) return refuseType(field, 'a list', []);
  return value.map((item: unknown, at) =>
    readItem({ ...field, value: item, path: `${path}[${String(at)}]` }),
  );
}

/** Reports a value of an unexpected type. */
export function refuseType<T>(field: Field, expected: string, otherwise: T): T {
  const { value, path, dialect } = field;
  dialect.refuse(path, `is ${dialect.show(value)}, expected ${expected}`);
  return otherwise;
}

/** The type of a value, for messages: `a number`. */
export function sortOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
