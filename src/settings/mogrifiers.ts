import { pairs } from '../platform/env-table/lists';
import {
  type Environment,
  type Findings,
  type Reading,
  readTable,
} from '../platform/env-table/read-table';
import { type Description, setting } from '../platform/env-table/setting';
import { text } from '../platform/env-table/texts';
import { compilePattern, type Pattern } from '../platform/pattern';
import { formerNames } from './former-names';

/** Gives a metric another name and tags. */
export interface Mogrifier {
  readonly name: string;
  readonly pattern: Pattern;
  /** The name that is sent; `$0`, `$1`… stand for groups of the pattern. */
  readonly metricName: string;
  /** Values may hold `$0`, `$1`… too. */
  readonly tags: Readonly<Record<string, string>>;
}

/** The settings of one mogrifier; `<NAME>` where the page documents them. */
export function mogrifierTable(name: string) {
  const prefix = `TAGGED_STATSD_MOGRIFIER_${name}`;
  const described = (suffix: string, description: Description) => ({
    aliases: formerNames(`${prefix}_${suffix}`),
    ...description,
  });
  return {
    pattern: setting(
      `${prefix}_PATTERN`,
      text,
      described('PATTERN', { doc: 'regular expression for the names of metrics' }),
    ),
    metricName: setting(
      `${prefix}_NAME`,
      text,
      described('NAME', { doc: 'name that is sent; $1, $2, … are groups of the pattern' }),
    ),
    tags: setting(
      `${prefix}_TAGS`,
      pairs(':'),
      described('TAGS', {
        doc: 'tags that are sent, k1:v1,k2:v2; may hold $1, $2, …',
        whenUnset: 'none',
      }),
    ),
  };
}

type MogrifierReading = Reading<ReturnType<typeof mogrifierTable>>;

function readPattern(reading: MogrifierReading, findings: Findings): Pattern | undefined {
  const { pattern } = reading.values;
  if (pattern === undefined) return undefined;
  try {
    return compilePattern(pattern);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const shown = reading.shown('pattern');
    findings.problems.push(`${shown}: expected a regular expression (${reason})`);
    return undefined;
  }
}

function readMogrifier(
  name: string,
  env: Environment,
  listedIn: string,
  findings: Findings,
): Mogrifier | undefined {
  const reading = readTable(mogrifierTable(name), env, findings);
  for (const key of ['pattern', 'metricName'] as const) {
    if (reading.isSet(key)) continue;
    findings.problems.push(`${listedIn}: expected ${reading.shown(key)} to be set`);
  }
  const pattern = readPattern(reading, findings);
  const { metricName, tags = {} } = reading.values;
  const empty = Object.keys(tags).find((key) => tags[key] === '');
  if (empty !== undefined) {
    findings.problems.push(`${reading.shown('tags')}: expected a value for the tag ${empty}`);
  }
  return pattern && metricName !== undefined ? { name, pattern, metricName, tags } : undefined;
}

/** The mogrifiers in the order of the list; names count in upper case, as they stand in the environment. */
export function readMogrifiers(
  names: readonly string[],
  listedIn: string,
  env: Environment,
  findings: Findings,
): readonly Mogrifier[] {
  const distinct = [...new Set(names.map((name) => name.toUpperCase()))];
  return distinct.flatMap((name) => readMogrifier(name, env, listedIn, findings) ?? []);
}
