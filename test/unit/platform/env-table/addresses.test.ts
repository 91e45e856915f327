import fc from 'fast-check';
import {
  address,
  host,
  listenAddress,
  listenPort,
  remotePort,
} from '../../../../src/platform/env-table/addresses';

describe('an address to connect to', () => {
  it.each([
    ['redis:6379', 'redis', 6379],
    ['redis.ns.svc.cluster.local.:1', 'redis.ns.svc.cluster.local.', 1],
    ['10.0.0.1:65535', '10.0.0.1', 65_535],
    ['[::1]:6379', '::1', 6379],
    [':6379', 'localhost', 6379],
  ])('reads %s', (text, name, port) => {
    expect(address.parse(text)).toEqual({ host: name, port });
  });

  it.each([
    ...['', 'redis', 'redis:', 'redis:0', 'redis:65536', 'redis:-1', 'redis:6379/0', 're dis:1'],
    ...[
      'redis://redis:6379',
      'user@redis:6379',
      'a,b:1',
      '::1:6379',
      '[redis]:6379',
      '[::1:6379',
      'redis:6379\n',
    ],
  ])('refuses %j', (text) => {
    expect(address.parse(text)).toBeUndefined();
  });

  it('reads back any port of any address', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.integer({ min: 1, max: 65_535 }), (name, port) => {
        expect(address.parse(`[${name}]:${String(port)}`)).toEqual({ host: name, port });
      }),
    );
  });
});

describe('a host', () => {
  it.each([
    ['0.0.0.0', '0.0.0.0'],
    ['::', '::'],
    ['[::]', '::'],
    ['localhost', 'localhost'],
  ])('reads %s as %s', (text, value) => {
    expect(host.parse(text)).toBe(value);
  });

  it.each(['', 'a b', 'a:1', '[a]', 'http://a', '[::1', '::1]'])('refuses %j', (text) => {
    expect(host.parse(text)).toBeUndefined();
  });
});

describe('a port', () => {
  it('may be 0 to listen on, but not to connect to', () => {
    expect([listenPort.parse('0'), remotePort.parse('0')]).toEqual([0, undefined]);
  });

  it.each([
    ['8080', 8080],
    ['0x1F90', 8080],
    ['8_080', 8080],
    ['0100', 64],
  ])('is read as Go reads whole numbers: %s', (text, value) => {
    expect([listenPort.parse(text), remotePort.parse(text)]).toEqual([value, value]);
  });

  it.each(['', '-1', '65536', '123456', '80a', '8080 ', '08080', 'tcp://10.0.0.1:80'])(
    'is not %j',
    (text) => {
      expect([listenPort.parse(text), remotePort.parse(text)]).toEqual([undefined, undefined]);
    },
  );
});

describe('an address to listen on', () => {
  it.each([
    [':9090', undefined, 9090],
    [':0', undefined, 0],
    ['127.0.0.1:9090', '127.0.0.1', 9090],
    ['[::]:9090', '::', 9090],
  ])('reads %s', (text, name, port) => {
    expect(listenAddress.parse(text)).toEqual({ host: name, port });
  });

  it.each(['', '9090', 'localhost', 'local host:1', ':65536', ':'])('refuses %j', (text) => {
    expect(listenAddress.parse(text)).toBeUndefined();
  });
});
