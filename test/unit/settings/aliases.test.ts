import { readSettings } from '../../../src/settings/settings';
import { SUBJECTS } from '../../../src/settings/tables';

const settings = SUBJECTS.flatMap((subject) => subject.settings);
const aliasesOf = (name: string) => settings.find((entry) => entry.name === name)?.aliases;

describe('the names of existing deployments', () => {
  it.each([
    ['KVSTORE_URL', 'REDIS_URL'],
    ['KVSTORE_PERSECOND', 'REDIS_PERSECOND'],
    ['KVSTORE_PERSECOND_URL', 'REDIS_PERSECOND_URL'],
    ['KVSTORE_HEALTH_CHECK_ACTIVE_CONNECTION', 'REDIS_HEALTH_CHECK_ACTIVE_CONNECTION'],
    ['KVSTORE_STARTUP_MAX_ELAPSED_TIME', 'REDIS_STARTUP_MAX_ELAPSED_TIME'],
    ['MEMSTORE_HOST_PORT', 'MEMCACHE_HOST_PORT'],
    ['PULLMETRICS_ADDR', 'PROMETHEUS_ADDR'],
    ['USE_PULLMETRICS', 'USE_PROMETHEUS'],
    ['USE_TAGGED_STATSD', 'USE_DOG_STATSD'],
    ['TAGGED_STATSD_MOGRIFIER_<NAME>_TAGS', 'DOG_STATSD_MOGRIFIER_<NAME>_TAGS'],
    ['LocalCacheSizeInBytes', 'LOCAL_CACHE_SIZE_IN_BYTES'],
  ])('%s is also %s', (name, alias) => {
    expect(aliasesOf(name)).toEqual([alias]);
  });

  it('name the mogrifiers in three ways', () => {
    expect(aliasesOf('USE_TAGGED_STATSD_MOGRIFIERS')).toEqual([
      'TAGGED_STATSD_MOGRIFIERS',
      'USE_DOG_STATSD_MOGRIFIERS',
    ]);
  });

  it.each([
    ['KVSTORE', 'REDIS'],
    ['MEMSTORE', 'MEMCACHE'],
    ['PULLMETRICS', 'PROMETHEUS'],
    ['TAGGED_STATSD', 'DOG_STATSD'],
  ])('stand beside every %s setting with %s in its place', (now, former) => {
    const renamed = settings.filter(({ name }) => name.includes(now));
    expect(renamed.length).toBeGreaterThan(4);
    for (const { name, aliases } of renamed) {
      expect(aliases).toContain(name.replace(now, former));
    }
  });

  it('belong to one setting each', () => {
    const names = settings.flatMap(({ name, aliases }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('start a deployment of today unchanged', () => {
    const result = readSettings({
      REDIS_SOCKET_TYPE: 'tcp',
      REDIS_URL: 'redis:6379',
      REDIS_TYPE: 'SINGLE',
      USE_STATSD: 'false',
      LOG_LEVEL: 'debug',
      RUNTIME_ROOT: '/data',
      RUNTIME_SUBDIRECTORY: 'ratelimit',
      RUNTIME_WATCH_ROOT: 'false',
      GRPC_SERVER_TLS_CA_CERT: '/certs/ca.crt',
      BACKEND_TYPE: 'redis',
    });
    expect(result).toMatchObject({
      ok: true,
      warnings: [],
      settings: {
        backend: 'kvstore',
        store: { address: { kind: 'tcp', host: 'redis', port: 6379 } },
        statistics: { output: 'stdout' },
        servers: { grpc: { tls: undefined } },
      },
    });
  });

  it('may not contradict the names of today', () => {
    expect(readSettings({ KVSTORE_URL: 'a:1', REDIS_URL: 'b:2' })).toEqual({
      ok: false,
      problems: [
        'KVSTORE_URL="a:1" and REDIS_URL="b:2": two names of one setting with different values, ' +
          'expected one of them',
      ],
    });
  });
});
