import { host, listenAddress, remotePort } from '../platform/env-table/addresses';
import {
  boolean,
  oneOfInAnyCase,
  path,
  urlPath,
  wholeNumber,
  word,
  text,
  listOf,
  pairs,
} from '../platform/env-table/parsers';
import type { TableReading } from '../platform/env-table/table';
import { optional, type Read, setting, timer } from './setting';
import { compilePattern, type Pattern } from '../platform/pattern';

export const statisticsTable = {
  useStatsd: setting('USE_STATSD', boolean, 'true', {
    doc: 'false writes statistics to standard output; gives way to another output unless it is set',
  }),
  disableStats: setting('DISABLE_STATS', boolean, 'false', {
    doc: 'true switches every output off; /stats of the debug server stays',
  }),
  flushIntervalMs: setting('STATS_FLUSH_INTERVAL', timer, '10s', {
    doc: 'time between two flushes',
  }),
  statsdHost: setting('STATSD_HOST', host, 'localhost', { doc: 'host of StatsD' }),
  statsdPort: setting('STATSD_PORT', remotePort, '8125', { doc: 'port of StatsD' }),
  statsdProtocol: setting('STATSD_PROTOCOL', oneOfInAnyCase('tcp', 'udp'), 'tcp', {
    doc: 'tcp or udp; statistics with tags go over udp unless it is set',
  }),
  extraTags: optional('EXTRA_TAGS', pairs(':'), 'none', {
    doc: 'tags of all statistics, k1:v1,k2:v2',
  }),
  maxSeries: setting('STATS_MAX_SERIES', wholeNumber(1), '100000', {
    doc: 'most series of one metric; the rest is summed in one of its own',
  }),
  useTaggedStatsd: setting('USE_TAGGED_STATSD', boolean, 'false', {
    doc: 'true sends statistics to StatsD with tags',
  }),
  mogrifierNames: optional(
    'USE_TAGGED_STATSD_MOGRIFIERS',
    listOf(word, 'the name of a mogrifier'),
    'none',
    {
      aliases: ['TAGGED_STATSD_MOGRIFIERS'],
      doc: 'names of mogrifiers, which turn parts of names into tags, in order',
    },
  ),
  usePullMetrics: setting('USE_PULLMETRICS', boolean, 'false', {
    doc: 'true serves metrics for a scraper',
  }),
  pullAddress: setting('PULLMETRICS_ADDR', listenAddress, ':9090', {
    doc: 'address that is scraped',
  }),
  pullPath: setting('PULLMETRICS_PATH', urlPath, '/metrics', { doc: 'path that is scraped' }),
  pullMapperFile: optional('PULLMETRICS_MAPPER_YAML', path, 'the built-in mapping', {
    doc: 'file that maps names of statistics to metrics',
  }),
  pullResponseTimeAsMilliseconds: setting(
    'PULLMETRICS_RESPONSE_TIME_AS_MILLISECONDS',
    boolean,
    'false',
    { doc: 'true gives response times in milliseconds instead of seconds' },
  ),
};

/** The output of statistics; at most one. */
type StatisticsOutput = 'statsd' | 'tagged-statsd' | 'pull-metrics' | 'stdout' | 'none';

type StatisticsReading = TableReading<typeof statisticsTable>;

const OUTPUTS = {
  useStatsd: 'statsd',
  useTaggedStatsd: 'tagged-statsd',
  usePullMetrics: 'pull-metrics',
} as const satisfies Record<string, StatisticsOutput>;

/** Each of these, once set, implies a StatsD server. */
const ASKS_FOR_STATSD = [
  'useStatsd',
  'useTaggedStatsd',
  'statsdHost',
  'statsdPort',
  'statsdProtocol',
] as const;

/** The active output: two explicit ones are a problem, a default yields (behaviour.md §1.5). */
function chooseOutput(reading: StatisticsReading): StatisticsOutput {
  const { values } = reading;
  const asked = (Object.keys(OUTPUTS) as (keyof typeof OUTPUTS)[]).filter(
    (key) => reading.isSet(key) && values[key],
  );
  if (values.disableStats) {
    for (const key of asked) {
      const off = reading.describe('disableStats');
      reading.warn(`${reading.describe(key)} has no effect beside ${off}`);
    }
    return 'none';
  }
  const [first, ...more] = asked;
  if (first === undefined) return values.useStatsd ? 'statsd' : 'stdout';
  if (more.length > 0) {
    const names = asked.map((key) => reading.describe(key)).join(' and ');
    reading.problem(`${names}: expected only one output of statistics`);
  }
  return OUTPUTS[first];
}

export function toStatistics(reading: StatisticsReading, read: Read) {
  const { values } = reading;
  const listedIn = reading.describe('mogrifierNames');
  const output = chooseOutput(reading);
  // Agents that support tags listen on UDP, and today's deployments send there.
  const isUdpByDefault = output === 'tagged-statsd' && !reading.isSet('statsdProtocol');
  return {
    output,
    flushIntervalMs: values.flushIntervalMs,
    statsd: {
      host: values.statsdHost,
      port: values.statsdPort,
      protocol: isUdpByDefault ? 'udp' : values.statsdProtocol,
      // False: its default address is tried all the same, where a sidecar may listen.
      isAsked: ASKS_FOR_STATSD.some((key) => reading.isSet(key)),
    },
    extraTags: values.extraTags ?? {},
    maxSeries: values.maxSeries,
    mogrifiers: readMogrifiers(values.mogrifierNames ?? [], listedIn, read),
    pullMetrics: {
      ...values.pullAddress,
      // The name that the operator used.
      addressSetting: reading.nameOf('pullAddress'),
      path: values.pullPath,
      mapperFile: values.pullMapperFile,
      responseTimeAsMilliseconds: values.pullResponseTimeAsMilliseconds,
    },
  };
}

export type StatisticsSettings = ReturnType<typeof toStatistics>;

/** The settings of one mogrifier; `<NAME>` where the page documents them. */
export function mogrifierTable(name: string) {
  const prefix = `TAGGED_STATSD_MOGRIFIER_${name}`;
  return {
    pattern: optional(`${prefix}_PATTERN`, text, 'unset', {
      doc: 'regular expression for the names of metrics',
    }),
    metricName: optional(`${prefix}_NAME`, text, 'unset', {
      doc: 'name that is sent; $1, $2, … are groups of the pattern',
    }),
    tags: optional(`${prefix}_TAGS`, pairs(':'), 'none', {
      doc: 'tags that are sent, k1:v1,k2:v2; may hold $1, $2, …',
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
function readMogrifier(name: string, listedIn: string, read: Read) {
  const reading = read(mogrifierTable(name));
  for (const key of ['pattern', 'metricName'] as const) {
    if (reading.isSet(key)) continue;
    reading.problem(`${listedIn}: expected ${reading.describe(key)} to be set`);
  }
  const pattern = readPattern(reading);
  const { metricName, tags = {} } = reading.values;
  const empty = Object.keys(tags).find((key) => tags[key] === '');
  if (empty !== undefined) reading.refuse('tags', `a value for the tag ${empty}`);
  return pattern && metricName !== undefined ? { name, pattern, metricName, tags } : undefined;
}

/** The mogrifiers in the order of the list; names are in upper case, as in the environment. */
function readMogrifiers(names: readonly string[], listedIn: string, read: Read) {
  const distinct = [...new Set(names.map((name) => name.toUpperCase()))];
  return distinct.flatMap((name) => readMogrifier(name, listedIn, read) ?? []);
}
