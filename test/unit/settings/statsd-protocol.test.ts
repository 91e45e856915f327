import { settingsOf } from './results';

it.each([
  [{}, 'tcp'],
  [{ STATSD_PROTOCOL: 'udp' }, 'udp'],
  [{ USE_TAGGED_STATSD: 'true' }, 'udp'],
  [{ USE_DOG_STATSD: 'true', STATSD_PROTOCOL: 'tcp' }, 'tcp'],
])('statistics of %j go over %s', (env, protocol) => {
  expect(settingsOf(env).statistics.statsd.protocol).toBe(protocol);
});
