import { type Diagnostics, readTable } from '../../../src/platform/env-table/table';
import { SUBJECTS } from '../../../src/settings/tables';

type Case = readonly [name: string, unset: unknown, good: string, value: unknown];

const flag = (name: string, unset: boolean): Case => [name, unset, unset ? 'F' : 't', !unset];
const file = (name: string): Case => [name, undefined, '/etc/a b.pem', '/etc/a b.pem'];

const storeCases = (prefix: string): readonly Case[] => [
  [`${prefix}_SOCKET_TYPE`, undefined, 'UNIX', 'unix'],
  [`${prefix}_TYPE`, 'single', 'SENTINEL', 'sentinel'],
  [`${prefix}_URL`, undefined, 'a:1,b:2', 'a:1,b:2'],
  [`${prefix}_POOL_SIZE`, 10, '20', 20],
  [`${prefix}_TIMEOUT`, 10_000, '300ms', 300],
  [`${prefix}_POOL_ON_EMPTY_BEHAVIOR`, 'create', 'wait', 'wait'],
  [`${prefix}_POOL_ON_EMPTY_WAIT_DURATION`, 1_000, '0', 0],
  [`${prefix}_PIPELINE_WINDOW`, 0, '150us', 0.15],
  [`${prefix}_PIPELINE_LIMIT`, 0, '8', 8],
  [`${prefix}_CLUSTER_PIPELINE_PARALLELISM`, 0, '1', 1],
  flag(`${prefix}_TLS`, false),
  [`${prefix}_AUTH`, undefined, 'u:p', { username: 'u', password: 'p' }],
  file(`${prefix}_AUTH_FILE`),
  [`${prefix}_SENTINEL_AUTH`, undefined, 'p', { username: undefined, password: 'p' }],
  file(`${prefix}_SENTINEL_AUTH_FILE`),
];

const collectorCases = (prefix: string): readonly Case[] => [
  [`${prefix}_ENDPOINT`, undefined, 'http://c:4318', 'http://c:4318'],
  [`${prefix}_INSECURE`, undefined, 'True', true],
  [`${prefix}_HEADERS`, undefined, 'api-key=a%3Db', { 'api-key': 'a=b' }],
  [`${prefix}_TIMEOUT`, undefined, '500', 500],
  [`${prefix}_COMPRESSION`, undefined, 'gzip', 'gzip'],
  file(`${prefix}_CERTIFICATE`),
  file(`${prefix}_CLIENT_KEY`),
  file(`${prefix}_CLIENT_CERTIFICATE`),
];

const CASES: readonly Case[] = [
  ['CONFIG_TYPE', 'FILE', 'GRPC_XDS_DELTA', 'GRPC_XDS_DELTA'],
  flag('FORCE_START_WITHOUT_INITIAL_CONFIG', false),
  ['RUNTIME_ROOT', '/srv/runtime_data/current', '/data', '/data'],
  ['RUNTIME_SUBDIRECTORY', undefined, 'ratelimit', 'ratelimit'],
  ['RUNTIME_APPDIRECTORY', 'config', '', ''],
  flag('RUNTIME_IGNOREDOTFILES', false),
  flag('RUNTIME_WATCH_ROOT', true),
  flag('MERGE_DOMAIN_CONFIG', false),

  ['CONFIG_GRPC_XDS_NODE_ID', 'default', 'envoy-ratelimit', 'envoy-ratelimit'],
  ['CONFIG_GRPC_XDS_NODE_METADATA', undefined, 'zone=a,t=b', { zone: 'a', t: 'b' }],
  ['CONFIG_GRPC_XDS_SERVER_URL', 'localhost:18000', 'gw:18001', 'gw:18001'],
  ['CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL', 3_000, '1m', 60_000],
  flag('XDS_CLIENT_BACKOFF_JITTER', true),
  ['XDS_CLIENT_BACKOFF_INITIAL_INTERVAL', 10_000, '1s', 1_000],
  ['XDS_CLIENT_BACKOFF_MAX_INTERVAL', 60_000, '5m', 300_000],
  ['XDS_CLIENT_BACKOFF_RANDOM_FACTOR', 0.5, '1.5', 1.5],
  ['XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES', undefined, '8388608', 8_388_608],
  flag('CONFIG_GRPC_XDS_SERVER_USE_TLS', false),
  file('CONFIG_GRPC_XDS_CLIENT_TLS_CERT'),
  file('CONFIG_GRPC_XDS_CLIENT_TLS_KEY'),
  file('CONFIG_GRPC_XDS_SERVER_TLS_CACERT'),
  ['CONFIG_GRPC_XDS_SERVER_TLS_SAN', undefined, 'xds.test', 'xds.test'],
  ['CONFIG_GRPC_XDS_CLIENT_ADDITIONAL_HEADERS', undefined, 'k:v', { k: 'v' }],

  ['HOST', '0.0.0.0', '[::]', '::'],
  ['PORT', 8080, '0', 0],
  ['GRPC_HOST', '0.0.0.0', '127.0.0.1', '127.0.0.1'],
  ['GRPC_PORT', 8081, '18081', 18_081],
  ['GRPC_UDS', undefined, '/run/rl.sock', '/run/rl.sock'],
  ['GRPC_UDS_MODE', 0o666, '660', 0o660],
  ['GRPC_TRANSPORT', 'wire', 'grpc-js', 'grpc-js'],
  flag('GRPC_REFLECTION', true),
  ['GRPC_MAX_CONNECTION_AGE', 86_400_000, '8760h', 31_536_000_000],
  ['GRPC_MAX_CONNECTION_AGE_GRACE', 3_600_000, '0', 0],
  flag('GRPC_SERVER_USE_TLS', false),
  file('GRPC_SERVER_TLS_CERT'),
  file('GRPC_SERVER_TLS_KEY'),
  file('GRPC_CLIENT_TLS_CACERT'),
  ['GRPC_CLIENT_TLS_SAN', undefined, 'edge.test', 'edge.test'],
  ['DEBUG_HOST', '0.0.0.0', 'localhost', 'localhost'],
  ['DEBUG_PORT', 6070, '6071', 6071],

  ['WORKERS', 1, 'auto', 'auto'],

  ['MAX_DESCRIPTORS', 256, '1000', 1_000],
  ['MAX_DESCRIPTOR_ENTRIES', 64, '10', 10],
  ['MAX_NAME_BYTES', 1_024, '2048', 2_048],
  ['MAX_VALUE_BYTES', 65_536, '1024', 1_024],
  ['MAX_JSON_BYTES', 1_048_576, '65536', 65_536],
  ['MAX_GRPC_MESSAGE_BYTES', 4_194_304, '65536', 65_536],
  ['MAX_UNPACK_RATIO', 100, '1000', 1_000],
  ['MAX_HELD_BYTES', 134_217_728, '268435456', 268_435_456],
  ['MAX_CONNECTIONS', 10_000, '100', 100],
  ['DEBUG_ALLOWED_HOSTS', undefined, 'a.test,b.test', ['a.test', 'b.test']],

  ['ADMIN_API', 'read', 'off', 'off'],
  file('ADMIN_TOKEN_FILE'),
  flag('ADMIN_PROTECT_ALL', false),
  ['ADMIN_HOSTS', undefined, 'a.test,b.test', ['a.test', 'b.test']],

  ['LOG_LEVEL', 'warning', 'WARN', 'warning'],
  ['LOG_FORMAT', 'text', 'JSON', 'json'],

  flag('HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED', false),
  flag('KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION', false),
  flag('HEALTHY_WITH_EQUAL_KEYS', true),
  ['DRAIN_DELAY', 0, '10s', 10_000],

  ['DECISION_LOG', 'off', 'over', 'over'],
  ['DECISION_LOG_SAMPLE', 0.01, '1', 1],
  ['DECISION_LOG_FILE', undefined, '/log/decisions.jsonl', '/log/decisions.jsonl'],
  ['DECISION_LOG_MAX_PER_SECOND', 100, '1000', 1_000],
  flag('SHADOW_MODE', false),
  flag('QUOTA_MODE', false),
  ['NEAR_LIMIT_RATIO', 0.8, '1.0', 1],
  flag('RESPONSE_DYNAMIC_METADATA', false),
  flag('STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT', false),
  flag('UNIT_MULTIPLIER_ON_WIRE', false),
  ['CHECK_CONFIG', undefined, '/etc/weir/check.yaml', '/etc/weir/check.yaml'],
  ['CACHE_KEY_PREFIX', '', 'blue:', 'blue:'],
  ['EXPIRATION_JITTER_MAX_SECONDS', 300, '0', 0],
  ['LocalCacheSizeInBytes', 0, '1048576', 1_048_576],
  ['KVSTORE_LEASES', 'off', 'on', 'on'],
  ['LEASE_TIME', 100, '250ms', 250],
  ['LEASE_SHARE', 0.5, '0.25', 0.25],
  ['LEASE_MIN_RATE', 20, '5', 5],
  ['LEASE_MAX_BYTES', 16_777_216, '0', 0],

  ['SECRET_KEYS_FILE', undefined, '/etc/a b.keys', '/etc/a b.keys'],
  ['TZDIR', undefined, '/opt/zoneinfo', '/opt/zoneinfo'],

  flag('LIMIT_RESPONSE_HEADERS_ENABLED', false),
  ['LIMIT_LIMIT_HEADER', 'RateLimit-Limit', 'X-Limit', 'X-Limit'],
  ['LIMIT_REMAINING_HEADER', 'RateLimit-Remaining', 'x-left', 'x-left'],
  ['LIMIT_RESET_HEADER', 'RateLimit-Reset', 'Retry-In', 'Retry-In'],
  ['LIMIT_POLICY_HEADERS', 'off', 'nearest', 'nearest'],
  ['LIMIT_RETRY_AFTER', false, 'on', true],
  ['LIMIT_RESET_JITTER', 0, '100', 100],
  ['LIMIT_NEAR_HEADER', undefined, 'x-near', 'x-near'],
  ['LIMIT_BODY', 'off', 'untyped-problem', 'untyped-problem'],

  ['BACKEND_TYPE', undefined, 'REDIS', 'kvstore'],
  ['MEMORY_MAX_KEYS', 1_000_000, '1_000', 1_000],
  ['MEMORY_MAX_BYTES', undefined, '1_048_576', 1_048_576],

  ...storeCases('KVSTORE'),
  file('KVSTORE_TLS_CLIENT_CERT'),
  file('KVSTORE_TLS_CLIENT_KEY'),
  file('KVSTORE_TLS_CACERT'),
  flag('KVSTORE_TLS_SKIP_HOSTNAME_VERIFICATION', false),
  flag('KVSTORE_SCRIPTS', true),
  ['KVSTORE_STARTUP_INITIAL_INTERVAL', 1_000, '100ms', 100],
  ['KVSTORE_STARTUP_MAX_INTERVAL', 1_000, '30s', 30_000],
  ['KVSTORE_STARTUP_MAX_ELAPSED_TIME', 0, '5m', 300_000],
  flag('KVSTORE_CACHE_INVALIDATION', true),
  ['KVSTORE_FAILURE_MODE', 'error', 'local', 'local'],
  ['KVSTORE_FAILURE_REPLICAS', 1, '3', 3],
  flag('KVSTORE_PERSECOND', false),
  ...storeCases('KVSTORE_PERSECOND'),

  ['MEMSTORE_HOST_PORT', undefined, 'a:1', [{ host: 'a', port: 1 }]],
  ['MEMSTORE_SRV', undefined, '_memcache._tcp.test', '_memcache._tcp.test'],
  ['MEMSTORE_SRV_REFRESH', 0, '10m', 600_000],
  ['MEMSTORE_MAX_IDLE_CONNS', 2, '16', 16],
  flag('MEMSTORE_TLS', false),
  file('MEMSTORE_TLS_CLIENT_CERT'),
  file('MEMSTORE_TLS_CLIENT_KEY'),
  file('MEMSTORE_TLS_CACERT'),
  flag('MEMSTORE_TLS_SKIP_HOSTNAME_VERIFICATION', false),

  flag('USE_STATSD', true),
  flag('DISABLE_STATS', false),
  ['STATS_FLUSH_INTERVAL', 10_000, '500ms', 500],
  ['STATSD_HOST', 'localhost', 'statsd.test', 'statsd.test'],
  ['STATSD_PORT', 8125, '9125', 9125],
  ['STATSD_PROTOCOL', 'tcp', 'udp', 'udp'],
  ['EXTRA_TAGS', undefined, 'zone:eu,app:shop', { zone: 'eu', app: 'shop' }],
  ['STATS_MAX_SERIES', 100_000, '10', 10],
  flag('USE_TAGGED_STATSD', false),
  ['USE_TAGGED_STATSD_MOGRIFIERS', undefined, 'HITS, REST', ['HITS', 'REST']],
  flag('USE_PULLMETRICS', false),
  ['PULLMETRICS_ADDR', { host: undefined, port: 9090 }, 'a:1', { host: 'a', port: 1 }],
  ['PULLMETRICS_PATH', '/metrics', '/my/metrics', '/my/metrics'],
  file('PULLMETRICS_MAPPER_YAML'),
  flag('PULLMETRICS_RESPONSE_TIME_AS_MILLISECONDS', false),
  ['TAGGED_STATSD_MOGRIFIER_<NAME>_PATTERN', undefined, '^a$', '^a$'],
  ['TAGGED_STATSD_MOGRIFIER_<NAME>_NAME', undefined, 'rl.$1', 'rl.$1'],
  ['TAGGED_STATSD_MOGRIFIER_<NAME>_TAGS', undefined, 'd:$1', { d: '$1' }],

  ['TRACING_ENABLED', false, 'true', true],
  ['TRACING_EXPORTER_PROTOCOL', 'http', 'grpc', 'grpc'],
  ['TRACING_SERVICE_NAME', 'RateLimit', 'limits', 'limits'],
  ['TRACING_SERVICE_NAMESPACE', '', 'edge', 'edge'],
  ['TRACING_SERVICE_INSTANCE_ID', undefined, 'a', 'a'],
  ['TRACING_SAMPLING_RATE', 1, '0.01', 0.01],
  ['OTEL_SDK_DISABLED', false, 'TRUE', true],
  ['OTEL_SERVICE_NAME', undefined, 'limits', 'limits'],
  ['OTEL_RESOURCE_ATTRIBUTES', undefined, 'a=b%20c,d=e', { a: 'b c', d: 'e' }],
  ['OTEL_BSP_MAX_QUEUE_SIZE', 2_048, '10', 10],
  ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, '10', 10],
  ['OTEL_BSP_SCHEDULE_DELAY', 5_000, '100', 100],
  ['OTEL_BSP_EXPORT_TIMEOUT', 30_000, '100', 100],
  ...collectorCases('OTEL_EXPORTER_OTLP'),
  ...collectorCases('OTEL_EXPORTER_OTLP_TRACES'),

  ['IDENTITY_HOST', '0.0.0.0', '::1', '::1'],
  ['IDENTITY_PORT', 8082, '80', 80],
  ['IDENTITY_CORS_ORIGINS', undefined, 'https://a,*', ['https://a', '*']],
  ['IDENTITY_USERINFO_PROFILE', 'documented', 'full', 'full'],
  ['IDENTITY_STORE', 'embedded', 'redis', 'kvstore'],
  ['IDENTITY_STORE_FILE', 'identity-store.json', '/var/lib/id.json', '/var/lib/id.json'],
  ['IDENTITY_METRICS_ADDR', undefined, ':9092', { host: undefined, port: 9092 }],
  [
    'IDENTITY_TRUSTED_PROXIES',
    undefined,
    '10.0.0.0/8, fd00::1',
    [
      { address: '10.0.0.0', prefix: 8 },
      { address: 'fd00::1', prefix: undefined },
    ],
  ],
  ['IDENTITY_JWT_ISSUER', undefined, 'https://a.test', 'https://a.test'],
  ['IDENTITY_JWT_AUDIENCE', undefined, 'api', 'api'],
  ['IDENTITY_JWT_JWKS_URL', undefined, 'https://a/jwks', 'https://a/jwks'],
  ['IDENTITY_JWT_JWKS_FILE', undefined, '/etc/jwks.json', '/etc/jwks.json'],
  ['IDENTITY_RATELIMIT', 'process', 'grpc', 'grpc'],
  ['IDENTITY_RATELIMIT_ADDRESS', undefined, 'rl:8081', { host: 'rl', port: 8081 }],
  ['IDENTITY_RATELIMIT_TIMEOUT', 250, '1s', 1_000],
  ['IDENTITY_RATELIMIT_FAILURE', 'allow', 'deny', 'deny'],
];

function readOne(name: string, env: Readonly<Record<string, string>>) {
  const found = SUBJECTS.flatMap(({ settings }) => settings).find((each) => each.name === name);
  if (found === undefined) throw new Error(`no setting is called ${name}`);
  const diagnostics: Diagnostics = { problems: [], warnings: [] };
  const { values } = readTable({ it: found }, env, diagnostics);
  return { value: values.it, ...diagnostics };
}

/** The names of all settings, also the former ones. */
const NAMES = SUBJECTS.flatMap(({ settings }) =>
  settings.map(({ name, aliases }) => [name, ...aliases]),
);

describe('a Service of Kubernetes that is called like a setting', () => {
  const linked = NAMES.flatMap(([name = '', ...aliases]) =>
    [name, ...aliases].filter((each) => each.endsWith('_PORT')).map((each) => [each, name]),
  );
  const LINKS = ['tcp://10.0.0.1:8081', 'udp://10.0.0.1:53', 'tcp://[fd00::1]:8081'];

  it('may have one of these names', () => {
    const names = ['GRPC_PORT', 'DEBUG_PORT', 'STATSD_PORT', 'IDENTITY_PORT', 'MEMSTORE_HOST_PORT'];
    expect(linked.map(([each]) => each)).toEqual(expect.arrayContaining(names));
  });

  it.each(linked)('leaves %s as it is without a value, with a warning', (each = '', name = '') => {
    const unset = CASES.find(([known]) => known === name)?.[1];
    for (const link of LINKS) {
      const { value, problems, warnings } = readOne(name, { [each]: link });
      expect({ value, problems }).toEqual({ value: unset, problems: [] });
      expect(warnings).toEqual([
        `${each}="${link}" is a Kubernetes service link, treated as not set; ` +
          'enableServiceLinks: false in the pod turns them off',
      ]);
    }
  });

  it('sets no other of our names', () => {
    const made = /_(?:SERVICE_(?:HOST|PORT(?:_.+)?)|PORT_\d+_(?:TCP|UDP|SCTP)(?:_.+)?)$/;
    expect(NAMES.flat().filter((name) => made.test(name))).toEqual([]);
  });
});

describe('every setting', () => {
  it('is in this table once, and nothing else is', () => {
    const names = SUBJECTS.flatMap(({ settings }) => settings.map(({ name }) => name));
    expect(CASES.map(([name]) => name).toSorted()).toEqual(names.toSorted());
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(CASES)('%s has its default', (name, unset) => {
    expect(readOne(name, {})).toEqual({ value: unset, problems: [], warnings: [] });
  });

  it.each(CASES)('%s takes a good value', (name, _, good, value) => {
    const { value: read, problems } = readOne(name, { [name]: good });
    expect(read).toEqual(value);
    expect(problems).toEqual([]);
  });
});
