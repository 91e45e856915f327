/** Turns the text of one environment variable into a value. */
export interface Parser<T> {
  /** Completes the sentence "expected …". */
  readonly expected: string;
  /** The value; undefined when the text is invalid. */
  parse(text: string): T | undefined;
}

/** The last column of a row. */
export interface Description {
  /** One line for the help and the settings page. */
  readonly doc: string;
  readonly aliases?: readonly string[];
  /** The value never appears in a message. */
  readonly secret?: boolean;
  /** An empty string is a value of its own; otherwise it counts as not set. */
  readonly emptyIsValue?: boolean;
  /** Accepted for old deployments, with a warning; has no effect. */
  readonly isDeprecated?: true;
}

/** One row: everything that the reading, the messages, the help and the page know of a setting. */
export interface Setting<T> extends Description {
  readonly name: string;
  readonly parser: Parser<T>;
  /** As an operator would write it. Undefined: without the setting there is no value. */
  readonly default: string | undefined;
  /** In words what applies without a default: `a random UUID`. */
  readonly whenUnset: string;
  readonly aliases: readonly string[];
}

export type Table = Readonly<Record<string, Setting<unknown>>>;

export type Values<T extends Table> = {
  readonly [K in keyof T]: T[K] extends Setting<infer V> ? V : never;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** Collects messages for the operator; one line each. */
export interface Diagnostics {
  /** Stops the start. */
  readonly problems: string[];
  readonly warnings: string[];
}

interface Given {
  readonly name: string;
  readonly text: string;
  readonly value: unknown;
}

const MAX_VALUE_SHOWN = 120;

/** An address with an @ may contain a password, whatever the setting is. */
function show(entry: Setting<unknown>, name: string, text: string): string {
  if (entry.secret === true || text.includes('@')) return `${name} (value not shown)`;
  const short = text.length > MAX_VALUE_SHOWN ? `${text.slice(0, MAX_VALUE_SHOWN)}…` : text;
  return `${name}=${JSON.stringify(short)}`;
}

function findGiven(
  entry: Setting<unknown>,
  env: Environment,
  diagnostics: Diagnostics,
): readonly Given[] {
  const given: Given[] = [];
  for (const name of [entry.name, ...entry.aliases]) {
    const text = env[name];
    if (text === undefined || (text === '' && entry.emptyIsValue !== true)) continue;
    if (isServiceLink(name, text)) {
      diagnostics.warnings.push(
        `${show(entry, name, text)} is a Kubernetes service link, treated as not set; ` +
          'enableServiceLinks: false in the pod turns them off',
      );
      continue;
    }
    given.push({ name, text, value: entry.parser.parse(text) });
  }
  return given;
}

function isSameValue(left: unknown, right: unknown): boolean {
  return left === right || JSON.stringify(left) === JSON.stringify(right);
}

function disagreements(entry: Setting<unknown>, given: readonly Given[]): readonly string[] {
  const [first, ...others] = given.filter(({ value }) => value !== undefined);
  if (first === undefined) return [];
  return others
    .filter(({ value }) => !isSameValue(value, first.value))
    .map(
      ({ name, text }) =>
        `${show(entry, first.name, first.text)} and ${show(entry, name, text)}: ` +
        'two names of one setting with different values, expected one of them',
    );
}

function readSetting(entry: Setting<unknown>, given: readonly Given[], diagnostics: Diagnostics) {
  const fallback = entry.default === undefined ? undefined : entry.parser.parse(entry.default);
  for (const { name, text, value } of given) {
    if (value !== undefined) continue;
    diagnostics.problems.push(`${show(entry, name, text)}: expected ${entry.parser.expected}`);
  }
  diagnostics.problems.push(...disagreements(entry, given));
  const used = given.find(({ value }) => value !== undefined);
  if (used === undefined) return fallback;
  const shown = show(entry, used.name, used.text);
  if (entry.isDeprecated === true) {
    diagnostics.warnings.push(`${shown} is deprecated and has no effect`);
  }
  return used.value;
}

/** Reads every setting of a table from the environment; all mistakes are added to the diagnostics. */
export function readTable<T extends Table>(table: T, env: Environment, diagnostics: Diagnostics) {
  const values: Record<string, unknown> = {};
  const shown: Record<string, string> = {};
  const names: Record<string, string> = {};
  let usesAliases = false;
  for (const [key, entry] of Object.entries(table)) {
    const given = findGiven(entry, env, diagnostics);
    values[key] = readSetting(entry, given, diagnostics);
    const [first] = given;
    if (first === undefined) continue;
    shown[key] = show(entry, first.name, first.text);
    names[key] = first.name;
    usesAliases ||= first.name !== entry.name;
  }
  const fittingName = ({ name, aliases }: Setting<unknown>) =>
    usesAliases ? (aliases[0] ?? name) : name;
  const nameOf = (key: keyof T) =>
    names[String(key)] ?? fittingName(table[key] as Setting<unknown>);
  const problem = (text: string) => diagnostics.problems.push(text);
  const describe = (key: keyof T) => shown[String(key)] ?? nameOf(key);
  return {
    /** A refused setting has its default, so that further checks can continue. */
    values: values as Values<T>,
    isSet: (key: keyof T) => Object.hasOwn(shown, key),
    /**
     * The setting under the name by which it was set, with its value unless that is a secret. An unset one has the name that fits
     * the others: `REDIS_URL` beside `REDIS_TIMEOUT`.
     */
    describe,
    /** The name by which it was set, or that fits the others. */
    nameOf,
    /** All settings that are set, as `describe` writes them. */
    given: Object.values(shown),
    /** Reports what was expected of a setting. */
    refuse: (key: keyof T, expected: string) => problem(`${describe(key)}: expected ${expected}`),
    /** Reports what settings say together. */
    problem,
    warn: (text: string) => diagnostics.warnings.push(text),
  };
}

export type TableReading<T extends Table> = ReturnType<typeof readTable<T>>;

/** As Kubernetes writes them: an IPv6 address is in brackets. */
const LINK = /^(?:tcp|udp|sctp):\/\/(?:[\d.]+|\[[\da-f:.]+\]):\d{1,5}$/i;

/**
 * Whether Kubernetes has set this variable because a Service of the namespace has that name: `grpc` makes
 * `GRPC_PORT=tcp://10.0.0.1:8081`. Of the names that it derives, ours can only be `<SERVICE>_PORT`.
 */
export function isServiceLink(name: string, text: string): boolean {
  return name.endsWith('_PORT') && LINK.test(text);
}
