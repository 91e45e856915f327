import fc from 'fast-check';
import { createRateLimiter } from '../../../src/client';

const GOOD = { target: 'localhost:8081', domain: 'shop' };

/** A limiter of options that may have other types than they should. */
const create = (options: Readonly<Record<string, unknown>>) =>
  createRateLimiter({ ...GOOD, ...options });

it.each([
  [{ target: 'localhost' }, 'target is "localhost", expected <host>:<port> or unix:<path>'],
  [{ target: 'http://localhost:8081' }, /^target is "http:.*, expected/],
  [{ target: undefined }, /^target is undefined, expected/],
  [{ domain: '' }, 'domain is "", expected the domain of the rules'],
  [{ timeoutMs: 0 }, 'timeoutMs is 0, expected milliseconds above 0'],
  [{ timeoutMs: '50' }, 'timeoutMs is "50", expected milliseconds above 0'],
  [{ timeoutMs: NaN }, /^timeoutMs is NaN/],
  [{ settleTimeoutMs: Infinity }, /^settleTimeoutMs is Infinity/],
  [{ onError: 'throw' }, 'onError is "throw", expected allow, deny or a function'],
  [{ tls: 'yes' }, 'tls is "yes", expected true, false or an object'],
  [{ tls: null }, 'tls is null, expected true, false or an object'],
  [{ tls: { cert: 'secret' } }, 'tls: expected cert and key together, or neither'],
  [{ tls: { cert: 'secret', key: 'secret' } }, /^tls: (?!.*secret)/],
])('refuses the options %j', (options, message) => {
  expect(() => create(options)).toThrow(TypeError);
  expect(() => create(options)).toThrow(message);
});

it('takes the targets that gRPC knows', async () => {
  for (const target of [
    ...['10.0.0.1:8081', '[::1]:8081', 'dns:weir:8081', 'dns:///weir.svc:8081', 'unix:/run/weir'],
    ...['dns://10.0.0.2/weir:8081', 'unix:///run/weir.sock', 'a_b.example:1'],
  ])
    await create({ target }).close();
});

describe('a call', () => {
  const limiter = createRateLimiter(GOOD);
  afterAll(() => limiter.close());
  const wrong = (value: unknown) => value as never;

  it.each([
    [[], 'descriptors is a list of 0, expected a list of at least one descriptor'],
    [undefined, 'descriptors is undefined, expected a list of at least one descriptor'],
    ['user=ann', 'descriptors is of type string, expected a list of at least one descriptor'],
    [[[]], 'descriptors[0] is a list of 0, expected a list of at least one [key, value]'],
    [[[['a', 'b']], null], 'descriptors[1] is null, expected a list of at least one [key, value]'],
    [[['user', 'ann']], 'descriptors[0][0] is of type string, expected [key, value]'],
    [[[['user', 'ann', 'x']]], 'descriptors[0][0] is a list of 3, expected [key, value]'],
    [[[[7, 'ann']]], 'the key of descriptors[0][0] is of type number, expected a string'],
    [[[['user', 4711]]], 'the value of descriptors[0][0] is of type number, expected a string'],
    [[[['user']]], 'the value of descriptors[0][0] is undefined, expected a string'],
  ])('refuses the descriptors %j', async (descriptors, message) => {
    const error = new TypeError(message);
    await expect(limiter.check(wrong(descriptors))).rejects.toEqual(error);
    await expect(limiter.quota(wrong(descriptors))).rejects.toEqual(error);
  });

  it.each([0, -1, 1.5, NaN, '3', 4_294_967_296])('refuses to check %p hits', async (hits) => {
    const shown = typeof hits === 'string' ? '"3"' : String(hits);
    await expect(limiter.check([[['user', 'ann']]], { hits: wrong(hits) })).rejects.toEqual(
      new TypeError(`hits is ${shown}, expected a whole number from 1 to 4294967295`),
    );
  });

  it.each([
    ['', 1, 'id has 0 bytes, expected 1 to 256'],
    ['ü'.repeat(129), 1, 'id has 258 bytes, expected 1 to 256'],
    [7, 1, 'id is of type number, expected a string'],
    ['i', -1, 'hits is -1, expected a whole number from 0 to 9007199254740991'],
    ['i', 2 ** 53, /^hits is 9007199254740992, expected/],
    ['i', undefined, 'hits is undefined, expected a whole number from 0'],
  ])('refuses to reserve as %p these hits: %p', async (id, hits, message) => {
    await expect(limiter.reserve([['user', 'ann']], wrong(id), wrong(hits))).rejects.toThrow(
      message,
    );
  });

  it('never rejects a settle, whatever it is given', async () => {
    const before = limiter.stats().unsettled;
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.anything(), fc.anything(), async (descriptor, hits) => {
        runs += 1;
        const { settled, error } = await limiter.settle(wrong(descriptor), '', wrong(hits));
        expect(settled).toBe(false);
        expect(error).toBeInstanceOf(TypeError);
      }),
    );
    expect(limiter.stats().unsettled).toBe(before + runs);
  });
});
