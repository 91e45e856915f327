import {
  emptyOf,
  readList,
  recordOf,
  refuseType,
  type Dialect,
  type Field,
  type Readers,
} from '../../fields/record';

/** Messages contain the value. A reason beyond the expected type is a message of its own. */
const DIALECT: Dialect = {
  refuse: () => undefined,
  inKnownOrder: true,
  separator: ': ',
  show: (value) => JSON.stringify(value),
  noMap: () => 'expected a map',
  unknown: (name) => `unknown field ${name}`,
};

/** A map of a mapping file, whose mistakes are added to the problems. A missing one has no fields. */
export function fieldOf(value: unknown, path: string, problems: string[]): Field {
  const refuse = (at: string, reason: string) =>
    problems.push(`${at}${reason.startsWith('is ') ? ' ' : ': '}${reason}`);
  return { value: value ?? {}, path, dialect: { ...DIALECT, refuse } };
}

const record = <T extends object>(readers: Readers<T>) =>
  recordOf(readers, emptyOf(readers, DIALECT));

/** Known, without effect here. */
const passedOver = () => undefined;

function text(field: Field): string | undefined {
  const { value } = field;
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return refuseType<string | undefined>(field, 'a string', undefined);
}

/** Undefined for an empty string, too. */
const oneOf =
  <const T extends string>(...choices: readonly T[]) =>
  (field: Field): T | undefined => {
    const value = text(field);
    const found = choices.find((choice) => choice === value);
    if (value === undefined || value === '' || found !== undefined) return found;
    return refuseType<T | undefined>({ ...field, value }, choices.join(' or '), undefined);
  };

function number(field: Field): number | undefined {
  const { value } = field;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return refuseType<number | undefined>(field, 'a number', undefined);
}

/** Ascending numbers. */
function bounds(field: Field): readonly number[] | undefined {
  const { value } = field;
  if (isRising(value)) return value;
  return refuseType<undefined | readonly number[]>(
    field,
    'a list of increasing numbers',
    undefined,
  );
}

function isRising(value: unknown): value is readonly number[] {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every(
    (one: unknown, at) =>
      typeof one === 'number' && !Number.isNaN(one) && (at === 0 || one > Number(value[at - 1])),
  );
}

const list = (field: Field) => readList(field, ({ value }) => value);

/** Every field of a map as a string, for maps with free names. */
function texts(field: Field): readonly (readonly [string, string])[] {
  const names = Object.keys(Object(field.value) as object);
  const read = record(Object.fromEntries(names.map((name) => [name, text])));
  return Object.entries(read(field)).map(([name, value]) => [name, value ?? '']);
}

export const readType = oneOf('histogram', 'summary');

/** Our timers use all samples since the start. */
const TIMER = {
  histogram_options: record({
    buckets: bounds,
    native_histogram_bucket_factor: passedOver,
    native_histogram_max_buckets: passedOver,
  }),
  summary_options: record({
    quantiles: list,
    max_age: passedOver,
    age_buckets: passedOver,
    buf_cap: passedOver,
  }),
  buckets: bounds,
  quantiles: list,
  observer_type: readType,
  // The former name, which is read where the other is absent.
  timer_type: (field: Field) => field,
};

/** Globs are always tried in the order of the file; series are dropped when room is needed, not by time. */
const DEFAULTS = {
  match_type: oneOf('glob', 'regex'),
  ...TIMER,
  glob_disable_ordering: passedOver,
  ttl: passedOver,
};

export const readFile = record({ defaults: record(DEFAULTS), mappings: list });

export const readMapping = record({
  match_type: DEFAULTS.match_type,
  match: text,
  action: oneOf('map', 'drop'),
  match_metric_type: oneOf('counter', 'gauge', 'observer', 'timer'),
  name: text,
  ...TIMER,
  scale: number,
  help: text,
  labels: texts,
  ttl: passedOver,
  honor_labels: passedOver,
});

export type DefaultFields = ReturnType<typeof readFile>['defaults'];
export type MappingFields = ReturnType<typeof readMapping>;
