import { nameOf } from '../../../../src/stats/statsd/sinks';

describe('nameOf', () => {
  it.each([
    ['localhost', 'tcp://localhost:8125'],
    ['::1', 'tcp://[::1]:8125'],
  ])('names %s as %s', (host, name) => {
    expect(nameOf('tcp', { host, port: 8125, timeoutMs: 1 })).toBe(name);
  });
});
