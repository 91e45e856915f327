import { readSettings } from '../../../src/settings/settings';

const REDIS = { RUNTIME_ROOT: '/data', REDIS_URL: 'redis:6379', REDIS_SOCKET_TYPE: 'tcp' };
const READ = 'reads no rules then and allows every request';

const warningOf = (env: Readonly<Record<string, string>>) => {
  const read = readSettings(env);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  return read.warnings.find((line) => line.includes(READ))?.split(': ')[0];
};

describe('rules that envoyproxy/ratelimit does not read', () => {
  it.each([
    [{}, 'RUNTIME_SUBDIRECTORY is not set, without RUNTIME_WATCH_ROOT=false'],
    [
      { RUNTIME_WATCH_ROOT: 'true' },
      'RUNTIME_SUBDIRECTORY is not set, without RUNTIME_WATCH_ROOT=false',
    ],
    [
      { RUNTIME_SUBDIRECTORY: 'a', RUNTIME_APPDIRECTORY: 'b/c' },
      'RUNTIME_APPDIRECTORY="b/c" without RUNTIME_WATCH_ROOT=false',
    ],
    [
      { RUNTIME_SUBDIRECTORY: 'a', RUNTIME_APPDIRECTORY: '.' },
      'RUNTIME_APPDIRECTORY="." without RUNTIME_WATCH_ROOT=false',
    ],
    [{ RUNTIME_WATCH_ROOT: 'false', RUNTIME_APPDIRECTORY: '' }, 'RUNTIME_APPDIRECTORY=""'],
  ])('are a warning with %j', (env, warning) => {
    expect(warningOf({ ...REDIS, ...env })).toBe(warning);
  });

  it.each([
    [{ RUNTIME_SUBDIRECTORY: 'ratelimit' }],
    [{ RUNTIME_SUBDIRECTORY: '.' }],
    [{ RUNTIME_WATCH_ROOT: 'false' }],
    [{ CONFIG_TYPE: 'GRPC_XDS_SOTW' }],
    [{ RUNTIME_ROOT: '' }],
  ])('are none with %j', (env) => {
    expect(warningOf({ ...REDIS, ...env })).toBeUndefined();
  });

  it('are none where counters live in memory, as the reference cannot', () => {
    expect(warningOf({ RUNTIME_ROOT: '/data' })).toBeUndefined();
  });
});
