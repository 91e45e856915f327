import { duration } from '../platform/env-table/parsers';
import type {
  TableReading,
  Description,
  Parser,
  Setting,
  Table,
} from '../platform/env-table/table';

/** First words of our names, and those in existing deployments (behaviour.md §1.1). */
const FORMER_PREFIXES: readonly (readonly [string, string])[] = [
  ['KVSTORE', 'REDIS'],
  ['MEMSTORE', 'MEMCACHE'],
  ['PULLMETRICS', 'PROMETHEUS'],
  ['USE_PULLMETRICS', 'USE_PROMETHEUS'],
  ['TAGGED_STATSD', 'DOG_STATSD'],
  ['USE_TAGGED_STATSD', 'USE_DOG_STATSD'],
];

function formerNames(name: string): readonly string[] {
  const found = FORMER_PREFIXES.find(([now]) => name === now || name.startsWith(`${now}_`));
  return found === undefined ? [] : [found[1] + name.slice(found[0].length)];
}

type Rest = Description & Pick<Setting<unknown>, 'name' | 'default' | 'whenUnset'>;

/** A row whose last names are those in existing deployments. */
function row<T>(parser: Parser<T>, { aliases = [], ...rest }: Rest): Setting<T> {
  return { ...rest, parser, aliases: [...aliases, ...formerNames(rest.name)] };
}

/** A setting with a default: its name, its values, the default as an operator would write it, and what it is for. */
export function setting<T>(name: string, parser: Parser<T>, text: string, more: Description) {
  return row<T>(parser, { ...more, name, default: text, whenUnset: text });
}

/** A setting without a default: in its place, in words, what applies while it is not set. */
export function optional<T>(name: string, parser: Parser<T>, whenUnset: string, more: Description) {
  return row<T | undefined>(parser, { ...more, name, default: undefined, whenUnset });
}

/** A variable whose name resembles that of a setting. */
export interface Misspelt {
  readonly name: string;
  readonly meant: string;
}

/** Reads a table of settings from the environment; mistakes are added to the diagnostics of all settings. */
export type Read = <T extends Table>(table: T) => TableReading<T>;

/** A duration that becomes a timer of Node, which holds less than 25 days; 0 is allowed. */
export const timerFromZero = duration({ max: '576h' });

/** A duration that becomes a timer of Node and must not be 0. */
export const timer = duration({ min: '1ms', max: '576h' });
