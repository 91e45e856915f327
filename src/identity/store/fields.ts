/** Reads the fields of one JSON object and gathers what is wrong with them. */
export interface RecordFields {
  /** What is there but not known; callers decide. */
  readonly unknown: readonly string[];
  text(name: string): string;
  textOrNull(name: string): string | null;
  flag(name: string, otherwise: boolean): boolean;
  list<T>(name: string, read: (fields: RecordFields) => T): readonly T[];
  object<T>(name: string, read: (fields: RecordFields) => T): T;
}

/** Thrown with every mistake of a record, one line each. */
export class MalformedRecord extends Error {
  override readonly name = 'MalformedRecord';
  readonly code = 'malformed_record';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.problems = problems;
  }
}

/** Reads a record; throws `MalformedRecord` when a field has another type, or its name is unknown. */
export function readRecord<T>(input: unknown, where: string, read: (fields: RecordFields) => T): T {
  const problems: string[] = [];
  const value = readObject(input, where, problems, read);
  if (problems.length > 0) throw new MalformedRecord(problems);
  return value;
}

function readObject<T>(
  input: unknown,
  where: string,
  problems: string[],
  read: (fields: RecordFields) => T,
): T {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  if (!isObject) problems.push(`${where} is ${describe(input)}, expected an object`);
  const source = isObject ? (input as Readonly<Record<string, unknown>>) : {};
  const asked = new Set<string>();
  const take = (name: string): unknown => {
    asked.add(name);
    return Object.hasOwn(source, name) ? source[name] : undefined;
  };
  const refuse = (name: string, value: unknown, expected: string): void => {
    problems.push(`${where}.${name} is ${describe(value)}, expected ${expected}`);
  };
  const fields: RecordFields = {
    get unknown() {
      return Object.keys(source).filter((name) => !asked.has(name));
    },
    text(name) {
      const value = take(name) ?? '';
      if (typeof value === 'string') return value;
      refuse(name, value, 'a string');
      return '';
    },
    textOrNull(name) {
      const value = take(name) ?? null;
      if (typeof value === 'string' || value === null) return value;
      refuse(name, value, 'a string or null');
      return null;
    },
    flag(name, otherwise) {
      const value = take(name) ?? otherwise;
      if (typeof value === 'boolean') return value;
      refuse(name, value, 'true or false');
      return otherwise;
    },
    list(name, readItem) {
      const value = take(name) ?? [];
      if (Array.isArray(value))
        return value.map((item, index) =>
          readObject(item, `${where}.${name}[${String(index)}]`, problems, readItem),
        );
      refuse(name, value, 'a list');
      return [];
    },
    object: (name, readInner) =>
      readObject(take(name) ?? {}, `${where}.${name}`, problems, readInner),
  };
  const value = read(fields);
  for (const name of fields.unknown) problems.push(`${where} has no field ${JSON.stringify(name)}`);
  return value;
}

/** The kind of a value; never the value, which may be personal. */
function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
