import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSettings } from '../../../src/settings/settings';

/**
 * envoyproxy/ratelimit 3fb70258 (January 2026) and f2fb157 (July 2026) started with each of these, with Redis and rules, and answered
 * requests: run on 2026-11-28.
 */
const TAKEN_THERE: readonly (readonly [name: string, value: string])[] = [
  ['REDIS_TIMEOUT', '-1s'],
  ['REDIS_TIMEOUT', '0'],
  ['REDIS_PERSECOND_TIMEOUT', '-1s'],
  ['NEAR_LIMIT_RATIO', '1.5'],
  ['NEAR_LIMIT_RATIO', '-0.5'],
  ['EXPIRATION_JITTER_MAX_SECONDS', '-5'],
  ['TRACING_SAMPLING_RATE', '2'],
  ['TRACING_SAMPLING_RATE', '-1'],
  ['XDS_CLIENT_BACKOFF_RANDOM_FACTOR', '-1'],
  ['LOCAL_CACHE_SIZE_IN_BYTES', '-1'],
  ['REDIS_POOL_SIZE', '0'],
  ['REDIS_PIPELINE_WINDOW', '-1ms'],
  ['REDIS_PIPELINE_LIMIT', '-1'],
  ['REDIS_CLUSTER_PIPELINE_PARALLELISM', '-1'],
  ['MEMCACHE_MAX_IDLE_CONNS', '-1'],
  ['MEMCACHE_SRV_REFRESH', '-1s'],
  ['GRPC_MAX_CONNECTION_AGE', '-1s'],
  ['GRPC_MAX_CONNECTION_AGE_GRACE', '-1s'],
  ['REDIS_STARTUP_INITIAL_INTERVAL', '-1s'],
  ['REDIS_STARTUP_MAX_INTERVAL', '-1s'],
  ['REDIS_STARTUP_MAX_ELAPSED_TIME', '-1s'],
  ['CONFIG_GRPC_XDS_SERVER_CONNECT_RETRY_INTERVAL', '-1s'],
  ['XDS_CLIENT_BACKOFF_INITIAL_INTERVAL', '-1s'],
  ['XDS_CLIENT_MAX_MSG_SIZE_IN_BYTES', '-1'],
  ['STATSD_PORT', '99999'],
  ['LOG_FORMAT', 'xml'],
  ['TRACING_EXPORTER_PROTOCOL', 'zipkin'],
  ['LIMIT_LIMIT_HEADER', ' x y'],
  ['PROMETHEUS_PATH', 'metrics'],
];

it.each(TAKEN_THERE)(
  '%s=%j, which the reference takes, ends the start and is named',
  (name, value) => {
    const read = readSettings({ [name]: value });
    expect(read.ok ? [] : read.problems).toContainEqual(
      expect.stringContaining(`${name}=${JSON.stringify(value)}: expected `),
    );
  },
);

it('the page of differences says so', () => {
  const page = readFileSync(join(__dirname, '../../../docs/replacing-the-reference.md'), 'utf8');
  const row = page.split('\n').find((line) => line.startsWith('| values that mean nothing')) ?? '';
  for (const word of ['negative', '`NEAR_LIMIT_RATIO`', '`TRACING_SAMPLING_RATE`', '`LOG_FORMAT`'])
    expect(row).toContain(word);
});
