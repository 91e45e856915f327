/** What is wrong with a mapping file, all of it. */
export type Problems = string[];

/** One map of the file, read field by field; a field that is not read is a mistake. */
export class YamlFields {
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #where: string;
  readonly #problems: Problems;
  readonly #read = new Set<string>();

  constructor(value: unknown, where: string, problems: Problems) {
    const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isMap && value !== undefined && value !== null) problems.push(`${where}: expected a map`);
    this.#values = new Map(isMap ? Object.entries(value) : []);
    this.#where = where;
    this.#problems = problems;
  }

  /** The value as the file has it; `null` counts as absent. */
  take(name: string): unknown {
    this.#read.add(name);
    return this.#values.get(name) ?? undefined;
  }

  text(name: string): string | undefined {
    const value = this.take(name);
    if (value === undefined || typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    this.#refuse(name, value, 'a string');
    return undefined;
  }

  oneOf<const T extends string>(name: string, choices: readonly T[]): T | undefined {
    const value = this.text(name);
    const found = choices.find((choice) => choice === value);
    if (value === undefined || value === '' || found !== undefined) return found;
    this.#refuse(name, value, choices.join(' or '));
    return undefined;
  }

  number(name: string): number | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    this.#refuse(name, value, 'a number');
    return undefined;
  }

  /** Numbers that rise. */
  bounds(name: string): readonly number[] | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (isRising(value)) return value;
    this.#refuse(name, value, 'a list of increasing numbers');
    return undefined;
  }

  list(name: string): readonly unknown[] {
    const value = this.take(name);
    if (value === undefined) return [];
    if (Array.isArray(value)) return value as readonly unknown[];
    this.#refuse(name, value, 'a list');
    return [];
  }

  fields(name: string): YamlFields {
    return new YamlFields(this.take(name), `${this.#where}: ${name}`, this.#problems);
  }

  /** Every field of the map as text, for maps whose names are free. */
  texts(): readonly (readonly [string, string])[] {
    return [...this.#values.keys()].map((name) => [name, this.text(name) ?? ''] as const);
  }

  /** Reports the fields that were not read. Last call. */
  end(): void {
    for (const name of this.#values.keys())
      if (!this.#read.has(name)) this.#problems.push(`${this.#where}: unknown field ${name}`);
  }

  problem(text: string): void {
    this.#problems.push(`${this.#where}: ${text}`);
  }

  #refuse(name: string, value: unknown, expected: string): void {
    this.problem(`${name} is ${JSON.stringify(value)}, expected ${expected}`);
  }
}

function isRising(value: unknown): value is readonly number[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every(
    (one: unknown, at) =>
      typeof one === 'number' && !Number.isNaN(one) && (at === 0 || one > Number(value[at - 1])),
  );
}
