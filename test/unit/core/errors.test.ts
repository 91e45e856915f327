import { failure, settled, StoreError } from '../../../src/core/errors';

it('says why a request got no decision', () => {
  expect(failure('draining', 'the service is stopping')).toEqual({
    kind: 'failure',
    code: 'draining',
    message: 'the service is stopping',
  });
});

describe('an error of a store', () => {
  it('is about the store where nothing else is said, and has its message and cause', () => {
    const cause = new Error('reset');
    const error = new StoreError('store_unavailable', 'redis at r1:6379: reset', { cause });
    expect(error).toMatchObject({ name: 'StoreError', code: 'store_unavailable', cause });
    expect([error.fault, error.message]).toEqual(['store', 'redis at r1:6379: reset']);
  });

  it.each([
    ['store', 'the counter store cannot be reached'],
    ['node', 'the counter store cannot be reached'],
    ['answer', 'the counter store answered with an error'],
    ['key', 'the counter store cannot count under this key'],
    ['breaker', 'circuit breaker open, counter store not called'],
  ] as const)('about its %s tells callers: %s', (fault, text) => {
    const { forCaller, message } = new StoreError('store_unavailable', 'r1:6379', { fault });
    expect([forCaller, message]).toEqual([text, 'r1:6379']);
  });

  it('of a time-out tells callers so, whatever it is about', () => {
    const { forCaller } = new StoreError('store_timeout', 'r1:6379', { fault: 'node' });
    expect(forCaller).toBe('the counter store did not answer in time');
  });

  it('tells callers what its maker says', () => {
    const options = { fault: 'key', forCaller: 'the key is too long' } as const;
    expect(new StoreError('store_unavailable', 'long', options).forCaller).toBe(
      'the key is too long',
    );
  });
});

it('gives a failed call by its error, and throws faults of ours', async () => {
  expect(await settled(() => Promise.resolve(1))).toBe(1);
  const away = new StoreError('store_unavailable', 'away');
  expect(await settled(() => Promise.reject(away))).toBe(away);
  await expect(settled(() => Promise.reject(new TypeError('ours')))).rejects.toThrow('ours');
  const refuse = (): Promise<never> => {
    throw away;
  };
  expect(await settled(refuse)).toBe(away);
});
