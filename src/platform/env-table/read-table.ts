import { isServiceLink } from './service-link';
import type { Setting, Table, Values } from './setting';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a reading leaves what an operator has to know; one line each. */
export interface Findings {
  /** Stops the start. */
  readonly problems: string[];
  readonly warnings: string[];
}

export interface Reading<T extends Table> {
  /** A setting that was refused holds its default, so that further checks can go on. */
  readonly values: Values<T>;
  isSet(key: keyof T): boolean;
  /** The setting under the name by which it was set, with its value unless that is a secret. */
  shown(key: keyof T): string;
}

interface Given {
  readonly name: string;
  readonly text: string;
  readonly value: unknown;
}

const LONGEST_VALUE_SHOWN = 120;

/** An address with an @ may carry a password, whatever the setting is. */
function show(entry: Setting<unknown>, name: string, text: string): string {
  if (entry.secret === true || text.includes('@')) return `${name} (value not shown)`;
  const short = text.length > LONGEST_VALUE_SHOWN ? `${text.slice(0, LONGEST_VALUE_SHOWN)}…` : text;
  return `${name}=${JSON.stringify(short)}`;
}

function findGiven(
  entry: Setting<unknown>,
  env: Environment,
  findings: Findings,
): readonly Given[] {
  const given: Given[] = [];
  for (const name of [entry.name, ...(entry.aliases ?? [])]) {
    const text = env[name];
    if (text === undefined || (text === '' && entry.emptyIsValue !== true)) continue;
    if (isServiceLink(name, text)) {
      findings.warnings.push(
        `${show(entry, name, text)} is a link to a Kubernetes Service, taken as not set; ` +
          'enableServiceLinks: false in the pod keeps such links away',
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

function readSetting(entry: Setting<unknown>, given: readonly Given[], findings: Findings) {
  const fallback = entry.default === undefined ? undefined : entry.parser.parse(entry.default);
  for (const { name, text, value } of given) {
    if (value !== undefined) continue;
    findings.problems.push(`${show(entry, name, text)}: expected ${entry.parser.expected}`);
  }
  findings.problems.push(...disagreements(entry, given));
  const used = given.find(({ value }) => value !== undefined);
  if (used === undefined) return fallback;
  const shown = show(entry, used.name, used.text);
  if (entry.deprecated === true) {
    findings.warnings.push(`${shown} is deprecated and has no effect`);
  }
  return used.value;
}

/** Reads every setting of a table from the environment; all that is wrong goes to the findings. */
export function readTable<T extends Table>(
  table: T,
  env: Environment,
  findings: Findings,
): Reading<T> {
  const values: Record<string, unknown> = {};
  const shown: Record<string, string> = {};
  for (const [key, entry] of Object.entries(table)) {
    const given = findGiven(entry, env, findings);
    values[key] = readSetting(entry, given, findings);
    const [first] = given;
    if (first !== undefined) shown[key] = show(entry, first.name, first.text);
  }
  return {
    values: values as Values<T>,
    isSet: (key) => Object.hasOwn(shown, key),
    shown: (key) => shown[String(key)] ?? table[key]?.name ?? String(key),
  };
}
