import type { Environment, Findings, Reading } from '../platform/env-table/read-table';
import { type Mogrifier, readMogrifiers } from './mogrifiers';
import type { statisticsTable } from './statistics';

/** Where statistics go; at most one. */
type StatisticsOutput = 'statsd' | 'tagged-statsd' | 'pull-metrics' | 'stdout' | 'none';

export interface StatisticsSettings {
  readonly output: StatisticsOutput;
  readonly flushIntervalMs: number;
  readonly statsd: {
    readonly host: string;
    readonly port: number;
    readonly protocol: 'tcp' | 'udp';
    /** False: no setting asks for StatsD. It is tried at its default address all the same, where a sidecar may listen. */
    readonly isAsked: boolean;
  };
  readonly extraTags: Readonly<Record<string, string>>;
  readonly maxSeries: number;
  /** In the order in which they are tried. */
  readonly mogrifiers: readonly Mogrifier[];
  readonly pullMetrics: {
    /** Undefined: every address of this machine. */
    readonly host: string | undefined;
    readonly port: number;
    readonly path: string;
    /** Undefined: the built-in mapping. */
    readonly mapperFile: string | undefined;
    readonly responseTimeAsMilliseconds: boolean;
  };
}

type StatisticsReading = Reading<typeof statisticsTable>;

const OUTPUTS = {
  useStatsd: 'statsd',
  useTaggedStatsd: 'tagged-statsd',
  usePullMetrics: 'pull-metrics',
} as const satisfies Record<string, StatisticsOutput>;

/** Each of these, once set, says that there is a StatsD server. */
const ASKS_FOR_STATSD = [
  'useStatsd',
  'useTaggedStatsd',
  'statsdHost',
  'statsdPort',
  'statsdProtocol',
] as const;

/** The one output that is on: two that were asked for are a problem, a default gives way (behaviour.md §1.5). */
function chooseOutput(reading: StatisticsReading, findings: Findings): StatisticsOutput {
  const { values } = reading;
  const asked = (Object.keys(OUTPUTS) as (keyof typeof OUTPUTS)[]).filter(
    (key) => reading.isSet(key) && values[key],
  );
  if (values.disableStats) {
    for (const key of asked) {
      const off = reading.shown('disableStats');
      findings.warnings.push(`${reading.shown(key)} has no effect beside ${off}`);
    }
    return 'none';
  }
  const [first, ...more] = asked;
  if (first === undefined) return values.useStatsd ? 'statsd' : 'stdout';
  if (more.length > 0) {
    const names = asked.map((key) => reading.shown(key)).join(' and ');
    findings.problems.push(`${names}: expected only one output of statistics`);
  }
  return OUTPUTS[first];
}

export function toStatistics(
  reading: StatisticsReading,
  env: Environment,
  findings: Findings,
): StatisticsSettings {
  const { values } = reading;
  const listedIn = reading.shown('mogrifierNames');
  const output = chooseOutput(reading, findings);
  // Agents that take tags listen on UDP, and there is where today's deployments send them.
  const isUdpByDefault = output === 'tagged-statsd' && !reading.isSet('statsdProtocol');
  return {
    output,
    flushIntervalMs: values.flushIntervalMs,
    statsd: {
      host: values.statsdHost,
      port: values.statsdPort,
      protocol: isUdpByDefault ? 'udp' : values.statsdProtocol,
      isAsked: ASKS_FOR_STATSD.some((key) => reading.isSet(key)),
    },
    extraTags: values.extraTags ?? {},
    maxSeries: values.maxSeries,
    mogrifiers: readMogrifiers(values.mogrifierNames ?? [], listedIn, env, findings),
    pullMetrics: {
      ...values.pullAddress,
      path: values.pullPath,
      mapperFile: values.pullMapperFile,
      responseTimeAsMilliseconds: values.pullResponseTimeAsMilliseconds,
    },
  };
}
