/** As much of JSON Schema as the OpenAPI document of this project uses. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
}

const KNOWN = new Set(
  '$ref allOf anyOf type const enum pattern minimum required properties additionalProperties items description'.split(
    ' ',
  ),
);

type Definitions = Readonly<Record<string, Schema>>;

/** What is wrong with a value, with its place; an unknown keyword is wrong too. */
export function problemsOf(
  value: unknown,
  schema: Schema,
  definitions: Definitions,
  where = 'body',
): string[] {
  const inner: Inner = (part, of, place) => problemsOf(part, of, definitions, place);
  const { $ref, allOf = [], anyOf = [], items } = schema;
  const referred = $ref === undefined ? [] : [definitionOf($ref, definitions)];
  const parts = [...referred, ...allOf].flatMap((part) => inner(value, part, where));
  // The problems with the first of several: which of them was meant is not known.
  const [firstOfAny = [], ...others] = anyOf.map((part) => inner(value, part, where));
  const ofAny = others.some((problems) => problems.length === 0) ? [] : firstOfAny;
  return [...problemsOfKind(value, schema, where), ...parts, ...ofAny, ...problemsInside()];

  function problemsInside(): string[] {
    if (Array.isArray(value))
      return value.flatMap((item, at) => inner(item, items ?? {}, `${where}[${String(at)}]`));
    if (typeof value !== 'object' || value === null) return [];
    return problemsOfFields(value as Readonly<Record<string, unknown>>, schema, where, inner);
  }
}

type Inner = (value: unknown, schema: Schema, where: string) => string[];

function problemsOfKind(value: unknown, schema: Schema, where: string): string[] {
  const problems = Object.keys(schema)
    .filter((keyword) => !KNOWN.has(keyword))
    .map((keyword) => `${where}: the schema has the unknown keyword ${keyword}`);
  if (!isOfType(value, schema)) problems.push(`${where} is not of type ${String(schema.type)}`);
  if (!isAllowed(value, schema)) problems.push(`${where} is ${JSON.stringify(value)}`);
  return problems;
}

function problemsOfFields(
  fields: Readonly<Record<string, unknown>>,
  { required = [], properties = {}, additionalProperties }: Schema,
  where: string,
  inner: Inner,
): string[] {
  const missing = required
    .filter((name) => !Object.hasOwn(fields, name))
    .map((name) => `${where} has no ${name}`);
  const present = Object.entries(fields).flatMap(([name, value]) => {
    const property = properties[name];
    if (property !== undefined) return inner(value, property, `${where}.${name}`);
    const isUnknown = additionalProperties === false;
    return isUnknown ? [`${where} has a field ${name} that is not documented`] : [];
  });
  return [...missing, ...present];
}

function definitionOf(reference: string, definitions: Definitions): Schema {
  const found = definitions[reference.replace('#/components/schemas/', '')];
  if (found === undefined) throw new Error(`no definition ${reference}`);
  return found;
}

function isOfType(value: unknown, { type }: Schema): boolean {
  if (type === undefined) return true;
  return [type].flat().some((name) => {
    if (name === 'integer') return Number.isInteger(value);
    if (name === 'null') return value === null;
    if (name === 'array') return Array.isArray(value);
    return typeof value === name && value !== null && !Array.isArray(value);
  });
}

function isAllowed(value: unknown, { const: only, enum: some, pattern, minimum }: Schema): boolean {
  return (
    (only === undefined || value === only) &&
    (some === undefined || some.includes(value)) &&
    (pattern === undefined || new RegExp(pattern).test(String(value))) &&
    (minimum === undefined || Number(value) >= minimum)
  );
}
