import { addressText } from '../../../../src/platform/listen-address';
import { createNodeErrors } from '../../../../src/counters/memcached/store-errors';

it.each([
  ['cache.test', 'cache.test:11211'],
  ['10.0.0.5', '10.0.0.5:11211'],
  ['::1', '[::1]:11211'],
])('a node at %s is called %s', (host, text) => {
  expect(addressText({ host, port: 11_211 })).toBe(text);
});

describe('an error of a node', () => {
  const errors = (isOnly: boolean) => createNodeErrors('[::1]:11211', () => isOnly);

  it('names the node', () => {
    const { timeout, lost, unavailable, answered } = errors(true);
    expect([timeout(20), lost('reset'), unavailable('refused'), answered('ERROR')]).toEqual([
      expect.objectContaining({ message: 'memcached [::1]:11211 did not answer within 20 ms' }),
      expect.objectContaining({
        message: 'the connection to memcached [::1]:11211 was lost before it had answered: reset',
      }),
      expect.objectContaining({ message: 'memcached [::1]:11211 is not available: refused' }),
      expect.objectContaining({ message: 'memcached [::1]:11211 answered: ERROR' }),
    ]);
  });

  it.each([
    [true, 'store'],
    [false, 'node'],
  ])('while it is the only one (%s) takes the %s away', (isOnly, fault) => {
    const { timeout, lost, unavailable } = errors(isOnly);
    for (const error of [timeout(20), lost('reset'), unavailable('refused')])
      expect(error.fault).toBe(fault);
  });

  it('is about the key where the node says so', () => {
    expect(errors(true).answered('CLIENT_ERROR bad data chunk').fault).toBe('key');
    expect(errors(true).answered('SERVER_ERROR out of memory').fault).toBe('answer');
  });
});
