import { duration } from '../platform/env-table/parsers';
import type { TableReading } from '../platform/env-table/read-table';
import {
  type Description,
  type Parser,
  type Setting,
  setting as plainSetting,
  type Table,
} from '../platform/env-table/setting';

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

/** A setting of this service: its aliases are those of the description, then the name in existing deployments. */
export const setting: typeof plainSetting = <T>(
  name: string,
  parser: Parser<T>,
  description: Description,
) =>
  plainSetting<T>(name, parser, {
    ...description,
    aliases: [...(description.aliases ?? []), ...formerNames(name)],
  }) as Setting<T>;

/** Reads a table of settings from the environment; mistakes are added to the diagnostics of all settings. */
export type Read = <T extends Table>(table: T) => TableReading<T>;

/** A duration that becomes a timer of Node, which holds less than 25 days; 0 is allowed. */
export const timerFromZero = duration({ max: '576h' });

/** A duration that becomes a timer of Node and must not be 0. */
export const timer = duration({ min: '1ms', max: '576h' });
