import { problemsOf, warningsOf } from './results';

const env = { BACKEND_TYPE: 'memory' };

describe('a feature that is not built', () => {
  it.each([['GRPC_CLIENT_TLS_SAN', 'edge.test']])(
    'stops the start where running without it would be wrong: %s=%s',
    (name, value) => {
      expect(problemsOf({ ...env, [name]: value })).toContain(
        `${name}="${value}": not built yet in this version`,
      );
    },
  );

  it('is not mentioned while its settings hold their defaults', () => {
    expect(
      warningsOf({
        ...env,
        GRPC_SERVER_USE_TLS: 'false',
        GRPC_TRANSPORT: 'grpc-js',
        REDIS_TYPE: 'SINGLE',
        REDIS_PERSECOND: 'false',
        REDIS_POOL_SIZE: '10',
        LOCAL_CACHE_SIZE_IN_BYTES: '0',
        USE_PROMETHEUS: 'false',
        TRACING_ENABLED: 'false',
        TRACING_SAMPLING_RATE: '1.0',
      }),
    ).toEqual([]);
  });

  it('is not confused with one that is gone', () => {
    expect(warningsOf({ ...env, REDIS_PIPELINE_LIMIT: '8' })).toEqual([
      'REDIS_PIPELINE_LIMIT="8" is deprecated and has no effect',
    ]);
  });

  it.each([
    ['CONFIG_TYPE', 'GRPC_XDS_SOTW'],
    ['CONFIG_TYPE', 'GRPC_XDS_DELTA'],
    ['CONFIG_GRPC_XDS_SERVER_URL', 'gw:18001'],
    ['XDS_CLIENT_BACKOFF_JITTER', 'false'],
    ['FORCE_START_WITHOUT_INITIAL_CONFIG', 'true'],
    ['RUNTIME_WATCH_ROOT', 'false'],
    ['HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED', 'true'],
    ['KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION', 'true'],
    ['KVSTORE_TIMEOUT', '1s'],
    ['KVSTORE_TLS', 'true'],
    ['KVSTORE_AUTH', 'hush'],
    ['KVSTORE_SCRIPTS', 'false'],
    ['KVSTORE_STARTUP_MAX_ELAPSED_TIME', '1m'],
    ['KVSTORE_PIPELINE_WINDOW', '150us'],
    ['KVSTORE_TYPE', 'sentinel'],
    ['KVSTORE_SENTINEL_AUTH', 'hush'],
    ['REDIS_POOL_SIZE', '20'],
    ['REDIS_POOL_ON_EMPTY_BEHAVIOR', 'WAIT'],
    ['REDIS_POOL_ON_EMPTY_WAIT_DURATION', '1ms'],
    ['KVSTORE_CLUSTER_PIPELINE_PARALLELISM', '0'],
    ['KVSTORE_PERSECOND_URL', 'b:2'],
    ['KVSTORE_PERSECOND_TIMEOUT', '2s'],
    ['KVSTORE_FAILURE_MODE', 'allow'],
    ['KVSTORE_FAILURE_REPLICAS', '3'],
    ['LOCAL_CACHE_SIZE_IN_BYTES', '1048576'],
    ['MEMSTORE_HOST_PORT', 'm:1'],
    ['SHADOW_MODE', 'true'],
    ['QUOTA_MODE', 'true'],
    ['NEAR_LIMIT_RATIO', '0.5'],
    ['RESPONSE_DYNAMIC_METADATA', 'true'],
    ['STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT', 'true'],
    ['CACHE_KEY_PREFIX', 'p:'],
    ['EXPIRATION_JITTER_MAX_SECONDS', '0'],
    ['LIMIT_RESPONSE_HEADERS_ENABLED', 'true'],
    ['STATSD_PROTOCOL', 'udp'],
    ['EXTRA_TAGS', 'a:b'],
    ['STATS_MAX_SERIES', '5'],
    ['USE_TAGGED_STATSD', 'true'],
    ['USE_PULLMETRICS', 'true'],
    ['TRACING_ENABLED', 'true'],
    ['TRACING_SAMPLING_RATE', '0.5'],
    ['LOG_FORMAT', 'json'],
    ['IDENTITY_PORT', '9000'],
    ['IDENTITY_STORE', 'kvstore'],
    ['IDENTITY_USERINFO_PROFILE', 'full'],
    ['IDENTITY_RATELIMIT_FAILURE', 'deny'],
  ])('is not said of one that is: %s', (name, value) => {
    expect(warningsOf({ ...env, [name]: value })).toEqual([]);
  });
});
