/** The kind of a statistic; mappings may be for one kind only. */
export type StatisticKind = 'counter' | 'gauge' | 'timer';

/** How a timer is shown. Bounds and quantiles ascend; bounds are in the shown unit. */
export type TimerShape =
  | { readonly type: 'histogram'; readonly bounds: readonly number[] }
  | { readonly type: 'summary'; readonly quantiles: readonly number[] };

/** A text with `$1`, `${1}`… that is filled with the groups of a pattern. */
export type Template = (groups: readonly (string | undefined)[]) => string;

/** How the statistics that match a pattern are shown. */
export interface Mapping {
  /** The groups of the pattern, `[whole, $1, $2, …]`; undefined when it does not match. */
  readonly match: (name: string) => readonly (string | undefined)[] | undefined;
  readonly kind: StatisticKind | undefined;
  /** True: not shown. Then the rest is ignored. */
  readonly drop: boolean;
  readonly name: Template;
  readonly help: string | undefined;
  readonly labels: readonly (readonly [name: string, value: Template])[];
  readonly timer: TimerShape;
  readonly scale: number;
}

/** The mapping of a statistic, and the groups of its pattern; undefined where none matches. */
export type FindMapping = (
  name: string,
  kind: StatisticKind,
) => { readonly mapping: Mapping; readonly groups: readonly (string | undefined)[] } | undefined;

export interface MappingSet {
  readonly find: FindMapping;
  /** Units of a timer's value per second, before a mapping's own `scale`: 1000 feeds milliseconds in. */
  readonly unitsPerSecond: 1 | 1000;
  /** How timers without a mapping are shown. */
  readonly unmappedTimer: TimerShape;
  /**
   * By figures of series, whose labels are then those of the series. `find` shows figures that are not here, and series without
   * labels. Absent for a file: it matches the dotted names.
   */
  readonly families?: ReadonlyMap<string, SeriesFamily>;
}

/** How one figure of all series is shown. */
export interface SeriesFamily {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter';
  /** The name that `find` gets for a series without labels; absent: its dotted name. */
  readonly nameOf?: (path: string) => string;
}

/** Bounds for a file that has none, in the shown unit: those of Prometheus' client for Go. */
export const DEFAULT_BOUNDS: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

export const DEFAULT_QUANTILES: readonly number[] = [0.5, 0.9, 0.99];

export function firstMapping(mappings: readonly Mapping[]): FindMapping {
  return (name, kind) => {
    for (const mapping of mappings) {
      if (mapping.kind !== undefined && mapping.kind !== kind) continue;
      const groups = mapping.match(name);
      if (groups !== undefined) return { mapping, groups };
    }
    return undefined;
  };
}

const REFERENCE = /\$\{?(\d+)\}?/g;

export function template(text: string): Template {
  if (!text.includes('$')) return () => text;
  return (groups) => text.replace(REFERENCE, (_, group: string) => groups[Number(group)] ?? '');
}

/** A valid name of a metric: invalid characters become `_`. */
export function metricName(text: string): string {
  const name = text.replace(/[^a-zA-Z0-9_:]/g, '_');
  return /^\d/.test(name) ? `_${name}` : name;
}

/** A valid name of a label. */
export function labelName(text: string): string {
  return metricName(text).replaceAll(':', '_');
}

/** A pattern of statsd_exporter: `*` matches one segment between dots. */
export function globMatch(pattern: string): Mapping['match'] {
  const parts = pattern.split('.');
  const last = parts.length - 1;
  return (name) => {
    const segments = name.split('.');
    if (segments.length !== parts.length) return undefined;
    const groups = [name];
    // From the end: names differ most in their statistic.
    for (let at = last; at >= 0; at -= 1)
      if (parts[at] !== '*' && parts[at] !== segments[at]) return undefined;
    for (const [at, part] of parts.entries()) if (part === '*') groups.push(segments[at] as string);
    return groups;
  };
}

/** 0.1 ms to 10 s, in seconds. */
const BOUNDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

const HELP = {
  near_limit: 'hits above the near-limit ratio that were not over the limit',
  over_limit: 'hits over the limit',
  total_hits: 'all hits',
  total_negative_hits: 'hits given back',
  within_limit: 'hits that were let through',
  shadow_mode: 'hits over the limit that shadow mode let through',
  reserved: 'hits that were held',
  settled: 'hits that were charged in place of held ones',
  lapsed: 'held hits whose lease expired',
  settled_unknown: 'calls that settled a reservation that was not open',
  blocks: 'blocks that began',
  blocked: 'hits that a block refused',
  over_one_limit: 'hits that one of several limits refused',
  unmatched: 'descriptors that no rule of their domain matched',
};

/** The families of docs/statistics.md; everything else keeps its own name. Timers are in seconds, or in milliseconds. */
export function builtInMapping(unitsPerSecond: 1 | 1000): MappingSet {
  const bounds = BOUNDS.map((bound) => Number((bound * unitsPerSecond).toPrecision(6)));
  const timer = { type: 'histogram', bounds } as const;
  return {
    unitsPerSecond,
    find: firstMapping(MAPPINGS.map((each) => ({ ...each, timer }))),
    unmappedTimer: timer,
    families: FAMILIES,
  };
}

const FAMILIES = new Map(
  Object.entries(HELP).map(([figure, help]) => [figure, family(figure, help)]),
);

function family(figure: string, help: string): SeriesFamily {
  const [type, name] = ['counter' as const, `ratelimit_service_rate_limit_${figure}`];
  if (figure === 'unmatched') return { name: 'ratelimit_unmatched', help, type };
  if (figure !== 'over_one_limit') return { name, help, type };
  // Separate from rules: the name of a limit reads as a key of theirs.
  return { name, help, type, nameOf: (path) => `ratelimit.service.one_limit.${path}.over_limit` };
}

function mapping(
  pattern: string,
  name: string,
  help: string,
  label: string,
  kind: StatisticKind,
): Omit<Mapping, 'timer'> {
  const labels = [[label, template('$1')]] as const;
  return {
    match: globMatch(pattern),
    kind,
    drop: false,
    name: template(name),
    help,
    labels,
    scale: 1,
  };
}

const MAPPINGS: readonly Omit<Mapping, 'timer'>[] = [
  mapping(
    'ratelimit.service.call.should_rate_limit.*',
    'ratelimit_service_should_rate_limit_error',
    'requests that failed, by the kind of error',
    'err_type',
    'counter',
  ),
  mapping(
    'ratelimit_server.*.total_requests',
    'ratelimit_service_total_requests',
    'calls by gRPC method',
    'grpc_method',
    'counter',
  ),
  mapping(
    'ratelimit.store.*.time',
    'ratelimit_store_time_seconds',
    'time from a batch of counters to the answer of its store, or its time-out',
    'store',
    'timer',
  ),
  mapping(
    'ratelimit_server.*.response_time',
    'ratelimit_service_response_time_seconds',
    'time from a call to its answer by gRPC method',
    'grpc_method',
    'timer',
  ),
];
