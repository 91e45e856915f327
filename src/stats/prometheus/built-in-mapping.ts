import {
  DEFAULT_BOUNDS,
  firstMapping,
  globMatch,
  type Mapping,
  type MappingSet,
  template,
} from './mapping';

const HISTOGRAM = { type: 'histogram', bounds: DEFAULT_BOUNDS } as const;

const RULE_STATS = {
  near_limit: 'hits above the near-limit ratio that were not over the limit',
  over_limit: 'hits over the limit',
  total_hits: 'all hits',
  within_limit: 'hits that were let through',
  shadow_mode: 'hits over the limit that shadow mode let through',
} as const;

/** What the document exports (ratelimit.md "Statistics"); everything else keeps its own name. */
export const BUILT_IN_MAPPING: MappingSet = {
  find: firstMapping([
    ...Object.entries(RULE_STATS).map(([stat, help]) => ruleMapping(stat, help)),
    mapping(
      globMatch('ratelimit.service.call.should_rate_limit.*'),
      'ratelimit_service_should_rate_limit_error',
      'requests that failed, by the kind of error',
      ['err_type'],
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
      globMatch('ratelimit_server.*.response_time'),
      'ratelimit_service_response_time_seconds',
      'time from a call to its answer by gRPC method',
      ['grpc_method'],
      'timer',
    ),
  ]),
  unmappedTimer: HISTOGRAM,
};

const RULE_PATH = /^ratelimit\.service\.rate_limit\.([^.]*)\.([^.]*)(?:\.([^.]*)(?:\..*)?)?$/s;

/** `<domain>.<key>[.<key>[.deeper…]]`: levels below the second are left out, and so are summed. */
function ruleMapping(stat: string, help: string): Mapping {
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
): Mapping {
  return {
    match,
    kind,
    drop: false,
    name: template(name),
    help,
    labels: labels.map((label, at) => [label, template(`$${String(at + 1)}`)] as const),
    timer: HISTOGRAM,
    scale: 1,
  };
}
