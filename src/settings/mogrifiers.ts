import { pairs } from '../platform/env-table/lists';
import {
  type Environment,
  type Diagnostics,
  type TableReading,
  readTable,
} from '../platform/env-table/read-table';
import { setting } from './setting';
import { text } from '../platform/env-table/scalars';
import { compilePattern, type Pattern } from '../platform/pattern';

/** The settings of one mogrifier; `<NAME>` where the page documents them. */
export function mogrifierTable(name: string) {
  const prefix = `TAGGED_STATSD_MOGRIFIER_${name}`;
  return {
    pattern: setting(`${prefix}_PATTERN`, text, {
      doc: 'regular expression for the names of metrics',
    }),
    metricName: setting(`${prefix}_NAME`, text, {
      doc: 'name that is sent; $1, $2, … are groups of the pattern',
    }),
    tags: setting(`${prefix}_TAGS`, pairs(':'), {
      doc: 'tags that are sent, k1:v1,k2:v2; may hold $1, $2, …',
      whenUnset: 'none',
    }),
  };
}

type MogrifierReading = TableReading<ReturnType<typeof mogrifierTable>>;

function readPattern(reading: MogrifierReading): Pattern | undefined {
  const { pattern } = reading.values;
  if (pattern === undefined) return undefined;
  try {
    return compilePattern(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    reading.refuse('pattern', `a regular expression (${reason})`);
    return undefined;
  }
}

/** Reads one mogrifier, which gives a metric another name and tags. */
function readMogrifier(name: string, env: Environment, listedIn: string, diagnostics: Diagnostics) {
  const reading = readTable(mogrifierTable(name), env, diagnostics);
  for (const key of ['pattern', 'metricName'] as const) {
    if (reading.isSet(key)) continue;
    diagnostics.problems.push(`${listedIn}: expected ${reading.describe(key)} to be set`);
  }
  const pattern = readPattern(reading);
  const { metricName, tags = {} } = reading.values;
  const empty = Object.keys(tags).find((key) => tags[key] === '');
  if (empty !== undefined) reading.refuse('tags', `a value for the tag ${empty}`);
  return pattern && metricName !== undefined ? { name, pattern, metricName, tags } : undefined;
}

/** The mogrifiers in the order of the list; names are in upper case, as in the environment. */
export function readMogrifiers(
  names: readonly string[],
  listedIn: string,
  env: Environment,
  diagnostics: Diagnostics,
) {
  const distinct = [...new Set(names.map((name) => name.toUpperCase()))];
  return distinct.flatMap((name) => readMogrifier(name, env, listedIn, diagnostics) ?? []);
}
