import { firstMapping, globMatch, type Mapping, type MappingSet, template } from './mapping';

/** 0.1 ms to 10 s, in seconds. */
const BOUNDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
];

const RULE_STATS = {
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
} as const;

/** The families of docs/pull-metrics.md; everything else keeps its own name. Timers are in seconds, or in milliseconds. */
export function builtInMapping(unitsPerSecond: 1 | 1000): MappingSet {
  const bounds = BOUNDS.map((bound) => Number((bound * unitsPerSecond).toPrecision(6)));
  const timer = { type: 'histogram', bounds } as const;
  return {
    unitsPerSecond,
    find: firstMapping(MAPPINGS.map((each) => ({ ...each, timer }))),
    unmappedTimer: timer,
    nameOfLimit: (path, stat) => `${ONE_LIMIT}.${path}.${stat}`,
  };
}

/** Separate from rules: the name of a limit reads as a key of theirs. */
const ONE_LIMIT = 'ratelimit.service.one_limit';
const LIMIT_PATH =
  /^ratelimit\.service\.one_limit\.([^.]*)\.([^.]*)(?:\.([^.]*)(?:\..*)?)?\.limit_([^.]*)\.over_limit$/s;

const RULE_PATH = /^ratelimit\.service\.rate_limit\.([^.]*)\.([^.]*)(?:\.([^.]*)(?:\..*)?)?$/s;

/** `<domain>.<key>[.<key>[.deeper…]]`: levels below the second are omitted, and so are summed. */
function ruleMapping(stat: string, help: string): Omit<Mapping, 'timer'> {
  const end = `.${stat}`;
  const match = (name: string) =>
    name.endsWith(end) ? (RULE_PATH.exec(name.slice(0, -end.length)) ?? undefined) : undefined;
  const name = `ratelimit_service_rate_limit_${stat}`;
  return mapping(match, name, help, ['domain', 'key1', 'key2'], 'counter');
}

function mapping(
  match: Mapping['match'],
  name: string,
  help: string,
  labels: readonly string[],
  kind: Mapping['kind'],
): Omit<Mapping, 'timer'> {
  return {
    match,
    kind,
    drop: false,
    name: template(name),
    help,
    labels: labels.map((label, at) => [label, template(`$${String(at + 1)}`)] as const),
    scale: 1,
  };
}

const UNMATCHED = /^ratelimit\.unmatched\.(.*)$/s;

const MAPPINGS: readonly Omit<Mapping, 'timer'>[] = [
  ...Object.entries(RULE_STATS).map(([stat, help]) => ruleMapping(stat, help)),
  mapping(
    (name) => LIMIT_PATH.exec(name) ?? undefined,
    'ratelimit_service_rate_limit_over_one_limit',
    'hits that one of several limits refused',
    ['domain', 'key1', 'key2', 'limit'],
    'counter',
  ),
  mapping(
    globMatch('ratelimit.service.call.should_rate_limit.*'),
    'ratelimit_service_should_rate_limit_error',
    'requests that failed, by the kind of error',
    ['err_type'],
    'counter',
  ),
  mapping(
    (name) => UNMATCHED.exec(name) ?? undefined,
    'ratelimit_unmatched',
    'descriptors that no rule of their domain matched',
    ['domain'],
    'counter',
  ),
  mapping(
    globMatch('ratelimit_server.*.total_requests'),
    'ratelimit_service_total_requests',
    'calls by gRPC method',
    ['grpc_method'],
    'counter',
  ),
  mapping(
    globMatch('ratelimit.store.*.time'),
    'ratelimit_store_time_seconds',
    'time from a batch of counters to the answer of its store, or its time-out',
    ['store'],
    'timer',
  ),
  mapping(
    globMatch('ratelimit_server.*.response_time'),
    'ratelimit_service_response_time_seconds',
    'time from a call to its answer by gRPC method',
    ['grpc_method'],
    'timer',
  ),
];
