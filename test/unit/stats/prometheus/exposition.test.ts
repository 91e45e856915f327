import fc from 'fast-check';
import { NO_FIGURES } from '../../../../src/core/decision/figures';
import { builtInMapping } from '../../../../src/stats/prometheus/mapping';
import { exposition, type Format } from '../../../../src/stats/prometheus/exposition';
import { gatherFamilies, type FamiliesOptions } from '../../../../src/stats/prometheus/families';
import { parseMapping } from '../../../../src/stats/prometheus/parse-mapping';
import { createRegistry, type Registry } from '../../../../src/stats/registry';
import { parseExposition } from '../../../support/parse-exposition';

function scrape(
  count: (registry: Registry) => void,
  options: Partial<FamiliesOptions> = {},
  format: Format = 'text',
) {
  const registry = createRegistry();
  count(registry);
  const given = {
    mapping: builtInMapping(1),
    extraTags: {},
    ...options,
  };
  const gathering = gatherFamilies(registry, [], given);
  let step = gathering.next();
  while (step.done !== true) step = gathering.next();
  return parseExposition([...exposition(step.value, format)].join(''), format);
}

/** One hit of each rule with this metric key. */
const countHits =
  (...paths: string[]) =>
  ({ rules }: Registry) => {
    for (const path of paths) rules.of(path).add({ ...NO_FIGURES, totalHits: 1 });
  };

function mappingFile(text: string) {
  const parsed = parseMapping(text);
  if (!parsed.ok) throw new Error(parsed.problems.join());
  return parsed.mapping;
}

const HITS = 'ratelimit_service_rate_limit_total_hits';
const TOOK = 'ratelimit_service_response_time_seconds';

describe('the built-in mapping', () => {
  it('cuts names at dots, and sums what differs only below the second level', () => {
    const { samples } = scrape(countHits('web.user', 'web.a.b', 'web.a.b.c', 'web.a.b.c.d'));
    expect(samples.get(`${HITS}{domain="web",key1="user"}`)).toBe(1);
    expect(samples.get(`${HITS}{domain="web",key1="a",key2="b"}`)).toBe(3);
  });

  it('has figures of budgets by rule, and what one of several limits refused apart from rules', () => {
    const { samples } = scrape((registry) => {
      const { budgets } = registry;
      budgets.reserved.of('llm.user', 5).add(5);
      budgets.lapsed.of('llm.user', 2).add(2);
      for (const path of ['llm.user.limit_hour', 'llm.user.path.more.limit_in_flight'])
        budgets.overOneLimit.of(path, 3).add(3);
      // A rule whose key reads as the name of a limit.
      registry.rules.of('llm.user.limit_hour').add({ ...NO_FIGURES, overLimit: 1 });
      registry.limitSeries({ maxSeries: 0, onFull: () => undefined });
      for (const path of ['llm.team.limit_day', 'llm.team.more.limit_hour'])
        budgets.overOneLimit.of(path, 4).add(4);
    });
    const of = (stat: string, labels: string) =>
      samples.get(`ratelimit_service_rate_limit_${stat}{domain="llm",key1="user"${labels}}`);
    expect([of('reserved', ''), of('lapsed', '')]).toEqual([5, 2]);
    expect(of('over_one_limit', ',limit="hour"')).toBe(3);
    expect(of('over_one_limit', ',key2="path",limit="in_flight"')).toBe(3);
    const overflow = '{domain="llm",key1="overflow",limit="overflow"}';
    expect(samples.get(`ratelimit_service_rate_limit_over_one_limit${overflow}`)).toBe(8);
    expect(of('over_limit', ',key2="limit_hour"')).toBe(1);
    expect(of('over_limit', '')).toBeUndefined();
  });

  it('shows what has no labels by its name: a rule without keys, a limit whose name was cut off', () => {
    const { samples } = scrape((registry) => {
      countHits('web')(registry);
      registry.budgets.overOneLimit.of('llm.user.lim', 2).add(2);
      registry.unmatched.of('a.b').add(3);
    });
    expect(samples.get('ratelimit_service_rate_limit_web_total_hits')).toBe(1);
    expect(samples.get('ratelimit_service_one_limit_llm_user_lim_over_limit')).toBe(2);
    expect(samples.get('ratelimit_unmatched{domain="a.b"}')).toBe(3);
  });

  it('leaves other names as they are, with _ for what a name may not hold', () => {
    const { samples, types } = scrape((registry) => {
      registry.rules.of('web.a/b').add({ ...NO_FIGURES, overLimitWithLocalCache: 1 });
      registry.unknownDomains.of('n').add(1);
      registry.gauge('ratelimit.redis_pool.cx_active', () => 3);
      registry.count('7.up', 1);
    });
    expect(samples.get('ratelimit_service_rate_limit_web_a_b_over_limit_with_local_cache')).toBe(1);
    expect(samples.get('ratelimit_service_rate_limit_n_domain_not_found')).toBe(1);
    expect(samples.get('_7_up')).toBe(1);
    expect(types.get('ratelimit_redis_pool_cx_active')).toBe('gauge');
  });

  it('shows response times in seconds, in buckets from 0.1 ms to 10 s', () => {
    const { samples } = scrape(({ time }) => {
      time('ratelimit_server.ShouldRateLimit.response_time', 0.2, 3);
      time('ratelimit_server.ShouldRateLimit.response_time', 40, 2);
      time('ratelimit_server.ShouldRateLimit.response_time', 60_000, 1);
    });
    const of = (le: string) =>
      samples.get(`${TOOK}_bucket{grpc_method="ShouldRateLimit",le="${le}"}`);
    expect(['0.0001', '0.00025', '0.025', '0.05', '10', '+Inf'].map(of)).toEqual([
      0, 3, 3, 5, 5, 6,
    ]);
    expect(samples.get(`${TOOK}_sum{grpc_method="ShouldRateLimit"}`)).toBeCloseTo(60.0806, 6);
  });

  it('shows milliseconds where they are asked for', () => {
    const took = ({ time }: Registry) => {
      time('ratelimit_server.Check.response_time', 20, 1);
    };
    const { samples: builtIn } = scrape(took, { mapping: builtInMapping(1000) });
    expect(builtIn.get(`${TOOK}_bucket{grpc_method="Check",le="10"}`)).toBe(0);
    expect(builtIn.get(`${TOOK}_bucket{grpc_method="Check",le="25"}`)).toBe(1);
  });

  it('writes extra tags as labels; the mapping wins, and a name is made fit', () => {
    const extraTags = { domain: 'mine', 'the-zone': 'eu "1"\\' };
    const { samples } = scrape(countHits('web.user'), { extraTags });
    const labels = 'domain="web",key1="user",the_zone="eu \\"1\\"\\\\"';
    expect(samples.get(`${HITS}{${labels}}`)).toBe(1);
  });
});

describe('a mapping file', () => {
  const took = ({ time }: Registry) => {
    time('ratelimit_server.ShouldRateLimit.response_time', 1_400, 1);
  };
  const NAME = 'ratelimit_service_response_time_seconds';

  it('is fed milliseconds, as the reference feeds it: a scale of 0.001 shows seconds', () => {
    const mapping = mappingFile(`
mappings:
  - match: ratelimit_server.*.response_time
    name: ratelimit_service_response_time_seconds
    timer_type: histogram
    scale: 0.001
    labels: { grpc_method: $1 }`);
    const { samples } = scrape(took, { mapping });
    const labels = 'grpc_method="ShouldRateLimit"';
    expect(samples.get(`${NAME}_sum{${labels}}`)).toBeCloseTo(1.4, 6);
    const below = (le: string) => samples.get(`${NAME}_bucket{${labels},le="${le}"}`);
    expect(['0.005', '1', '2.5', '10', '+Inf'].map(below)).toEqual([0, 0, 1, 1, 1]);
    expect(below('0.0001')).toBeUndefined();
  });

  it('shows milliseconds where it has no scale, with bounds as they stand in it', () => {
    const mapping = mappingFile('{defaults: {timer_type: histogram, buckets: [1000, 3000]}}');
    const { samples } = scrape(took, { mapping });
    const name = 'ratelimit_server_ShouldRateLimit_response_time';
    expect(samples.get(`${name}_sum`)).toBe(1_400);
    expect(samples.get(`${name}_bucket{le="1000"}`)).toBe(0);
    expect(samples.get(`${name}_bucket{le="3000"}`)).toBe(1);
  });

  it('shows summaries, scales and drops', () => {
    const mapping = mappingFile(
      '{mappings: [{match: a.*, name: all, scale: 10}, {match: b, action: drop}]}',
    );
    const { samples } = scrape(
      ({ count, time }) => {
        count('a.x', 1);
        count('a.y', 2);
        count('b', 9);
        time('took', 20, 100);
      },
      { mapping },
    );
    expect(samples.get('all')).toBe(30);
    expect(samples.has('b')).toBe(false);
    expect(samples.get('took{quantile="0.99"}')).toBeCloseTo(20, 0);
    expect(samples.get('took_count')).toBe(100);
  });

  it('matches the dotted names of rules and their limits', () => {
    const mapping = mappingFile(
      '{mappings: [{match: ratelimit.service.rate_limit.*.*.*.over_limit, name: over, labels: {last: $3}}]}',
    );
    const { samples } = scrape(
      ({ rules, budgets }) => {
        rules.of('web.user.path').add({ ...NO_FIGURES, overLimit: 1 });
        budgets.overOneLimit.of('web.user.limit_hour', 2).add(2);
      },
      { mapping },
    );
    expect(samples.get('over{last="path"}')).toBe(1);
    expect(samples.get('over{last="limit_hour"}')).toBe(2);
  });

  it('adds up timers that get one name and one set of labels', () => {
    const mapping = mappingFile('{mappings: [{match: took.*, name: took, timer_type: histogram}]}');
    const { samples } = scrape(
      ({ time }) => {
        time('took.a', 1, 2);
        time('took.b', 500, 3);
      },
      { mapping },
    );
    expect(samples.get('took_bucket{le="2.5"}')).toBe(2);
    expect(samples.get('took_count')).toBe(5);
    expect(samples.get('took_sum')).toBe(1_502);
  });

  it('shows one type where two share a name, and how many it left out', () => {
    const { samples, types } = scrape((registry) => {
      registry.count('a.b', 1);
      registry.gauge('a_b', () => 2);
      registry.time('a/b', 1, 1);
    });
    expect(types.get('a_b')).toBe('counter');
    expect(samples.get('weir_metrics_conflicts')).toBe(2);
  });
});

describe('OpenMetrics', () => {
  it('has the same names, counters without _total as unknown', () => {
    const fill = (registry: Registry) => {
      countHits('web.user')(registry);
      registry.count('ratelimit.redis_pool.cx_total', 2);
      registry.gauge('ratelimit.redis_pool.cx_active', () => -1);
      registry.time('ratelimit_server.Check.response_time', 1, 1);
    };
    const text = scrape(fill);
    const open = scrape(fill, {}, 'openmetrics');
    const names = ({ samples }: typeof text) =>
      [...samples.keys()].map((key) => key.replace(/le="(\d+)(\.0)?"/, 'le="$1"'));
    expect(names(open)).toEqual(names(text));
    expect(open.types.get(HITS)).toBe('unknown');
    expect(open.types.get('ratelimit_redis_pool_cx')).toBe('counter');
    expect(text.types.get('ratelimit_redis_pool_cx_total')).toBe('counter');
  });
});

it('is read back whatever the names and tags hold', () => {
  const anything = fc.string({ unit: 'binary', maxLength: 6 });
  fc.assert(
    fc.property(
      fc.array(anything),
      fc.dictionary(fc.string({ minLength: 1 }), anything),
      (paths, tags) => {
        for (const format of ['text', 'openmetrics'] as const) {
          const fill = countHits(...paths.map((path) => `d.${path}`));
          const { samples } = scrape(fill, { extraTags: tags }, format);
          expect(samples.size).toBeGreaterThan(0);
        }
      },
    ),
  );
});
