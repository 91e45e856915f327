import { readSettings } from '../../../src/settings/settings';

const GOOD = { BACKEND_TYPE: 'memory' };

function warningsOf(env: Readonly<Record<string, string>>): readonly string[] {
  const result = readSettings({ ...GOOD, ...env });
  if (!result.ok) throw new Error(result.problems.join('\n'));
  return result.warnings;
}

function problemsOf(env: Readonly<Record<string, string>>): readonly string[] {
  const result = readSettings(env);
  return result.ok ? [] : result.problems;
}

describe('a name that is nearly a setting', () => {
  it.each([
    ['REDIS_ULR', 'REDIS_URL'],
    ['KVSTORE_ULR', 'KVSTORE_URL'],
    ['REDIS_TIMOUT', 'REDIS_TIMEOUT'],
    ['IDENTITY_STROE', 'IDENTITY_STORE'],
    ['GRPC_PROT', 'GRPC_PORT'],
  ])('%s is a warning that names %s', (name, meant) => {
    expect(warningsOf({ [name]: 'x' })).toEqual([
      `${name} is not a setting: did you mean ${meant}?`,
    ]);
  });

  it.each([
    ['DOG_STATSD_MOGRIFIERS', 'USE_DOG_STATSD_MOGRIFIERS'],
    ['DOG_STATSD_MOGRIFIERS_HITS_PATTERN', 'DOG_STATSD_MOGRIFIER_HITS_PATTERN'],
    ['DOG_STATSD_MOGRIFIERS_HITS_TAGS', 'DOG_STATSD_MOGRIFIER_HITS_TAGS'],
  ])('%s, which the README of the reference has, is a warning that names %s', (name, meant) => {
    expect(warningsOf({ [name]: 'x' })).toEqual([
      `${name} is not a setting: did you mean ${meant}?`,
    ]);
  });

  it.each([
    ['REDIS_PORT', 'tcp://10.0.0.1:6379'],
    ['REDIS_SERVICE_HOST', '10.0.0.1'],
    ['REDIS_PORT_6379_TCP_ADDR', '10.0.0.1'],
    ['IDENTITY_SERVICE_PORT_HTTP', '8082'],
    ['GRPC_SERVER_TLS_CA_CERT', '/ca.pem'],
    ['GRPC_GO_LOG_SEVERITY_LEVEL', 'info'],
    ['POTR', '8080'],
  ])('%s is left alone: a Service made it, or nobody meant one of ours', (name, value) => {
    expect(warningsOf({ [name]: value })).toEqual([]);
  });
});

describe('settings of a store without its address', () => {
  it.each([
    [{ REDIS_TIMEOUT: '1s' }, 'REDIS_TIMEOUT="1s": expected REDIS_URL to be set too'],
    [
      { REDIS_TYPE: 'cluster', REDIS_TIMEOUT: '1s' },
      'REDIS_TYPE="cluster" (and 1 more): expected REDIS_URL to be set too',
    ],
    [
      { MEMCACHE_MAX_IDLE_CONNS: '4' },
      'MEMCACHE_MAX_IDLE_CONNS="4": expected MEMCACHE_HOST_PORT or MEMCACHE_SRV to be set too',
    ],
  ])('%j stop the start', (env, problem) => {
    expect(problemsOf(env)).toEqual([expect.stringContaining(problem)]);
  });

  it('name the setting that was meant', () => {
    expect(problemsOf({ REDIS_ULR: 'redis:6379' })).toEqual([
      'REDIS_ULR is not a setting: did you mean REDIS_URL?',
      'REDIS_ULR: expected REDIS_URL to be set too, or BACKEND_TYPE=memory to count in this process',
    ]);
  });

  it('count in memory when that is asked for', () => {
    expect(problemsOf({ BACKEND_TYPE: 'memory', REDIS_TIMEOUT: '1s' })).toEqual([]);
  });
});

it('REDIS_PERSECOND_URL without REDIS_PERSECOND=true is a warning', () => {
  const env = { BACKEND_TYPE: 'redis', REDIS_URL: 'a:6379', REDIS_PERSECOND_URL: 'b:6379' };
  expect(warningsOf(env)).toEqual([
    'REDIS_PERSECOND_URL="b:6379" has no effect without REDIS_PERSECOND=true: limits per second are counted at REDIS_URL',
  ]);
  expect(warningsOf({ ...env, REDIS_PERSECOND: 'true' })).toEqual([]);
});

it.each(['GRPC_SERVER_TLS_CERT', 'GRPC_SERVER_TLS_KEY'])(
  '%s without GRPC_SERVER_USE_TLS is a warning',
  (name) => {
    expect(warningsOf({ [name]: '/tls.pem' })).toEqual([
      `${name}="/tls.pem" has no effect without GRPC_SERVER_USE_TLS=true, so the port serves plain text`,
    ]);
  },
);
