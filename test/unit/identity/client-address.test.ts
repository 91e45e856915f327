import type { IncomingMessage } from 'node:http';
import { createClientAddress, ipv6Network } from '../../../src/identity/service/client-address';
import { createRecordingLogger } from '../../support/recording-logger';
import { silentLogger } from '../../support/silent-logger';

import fc from 'fast-check';

const request = (remoteAddress: string | undefined, ...forwarded: readonly string[]) =>
  ({
    socket: { remoteAddress },
    rawHeaders: forwarded.flatMap((value) => ['X-Forwarded-For', value]),
  }) as unknown as IncomingMessage;

const TRUSTED = [
  { address: '10.0.0.0', prefix: 8 },
  { address: '192.0.2.1', prefix: undefined },
  { address: 'fd00::', prefix: 8 },
];

it.each<[string, string, string[], string]>([
  ['nobody forwards', '203.0.113.9', [], '203.0.113.9'],
  ['a stranger forwards', '203.0.113.9', ['1.2.3.4'], '203.0.113.9'],
  ['a proxy forwards', '10.1.1.1', ['203.0.113.9'], '203.0.113.9'],
  ['the caller lies before the proxy', '10.1.1.1', ['1.2.3.4, 203.0.113.9'], '203.0.113.9'],
  ['two proxies forward', '10.1.1.1', ['203.0.113.9, 192.0.2.1'], '203.0.113.9'],
  ['in two headers', '10.1.1.1', ['1.2.3.4, 203.0.113.9', '10.2.2.2'], '203.0.113.9'],
  ['all are proxies', '10.1.1.1', ['10.3.3.3, 10.2.2.2'], '10.3.3.3'],
  ['garbage ends the belief', '10.1.1.1', ['203.0.113.9, x, 10.2.2.2'], '10.2.2.2'],
  ['nothing but garbage', '10.1.1.1', ['unknown'], '10.1.1.1'],
  ['an empty header', '10.1.1.1', ['', ' , '], '10.1.1.1'],
  ['with a port', '10.1.1.1', ['203.0.113.9:4711'], '203.0.113.9'],
  ['IPv6 with a port', '10.1.1.1', ['[2001:db8:1:2ff::9]:80'], '2001:db8:1:200::/56'],
  ['IPv6', '2001:db8:1:2ff::9', [], '2001:db8:1:200::/56'],
  ['IPv6 with a zone', 'fe80::1%eth0', [], 'fe80:0:0:0::/56'],
  ['IPv4 on an IPv6 socket', '::ffff:203.0.113.9', [], '203.0.113.9'],
  ['a proxy on an IPv6 socket', '::ffff:10.1.1.1', ['203.0.113.9'], '203.0.113.9'],
  ['an IPv6 proxy', 'fd00::1', ['203.0.113.9'], '203.0.113.9'],
])('finds who calls: %s', (_, peer, forwarded, expected) => {
  expect(createClientAddress(TRUSTED, silentLogger)(request(peer, ...forwarded))).toBe(expected);
});

it('believes nobody unless told, and says once whom it did not believe', () => {
  const { logger, lines } = createRecordingLogger();
  const clientAddress = createClientAddress([], logger);
  expect(clientAddress(request('10.1.1.9'))).toBe('10.1.1.9');
  expect(lines).toEqual([]);
  for (const peer of ['::ffff:10.1.1.1', '10.1.1.1', '10.1.1.2'])
    expect(clientAddress(request(peer, '1.2.3.4'))).toBe(peer.replace('::ffff:', ''));
  expect(lines).toEqual([
    {
      level: 'warn',
      message: expect.stringContaining('set IDENTITY_TRUSTED_PROXIES') as string,
      fields: { peer: '10.1.1.1' },
    },
  ]);
});

it('says nothing of strangers when it knows the proxies', () => {
  const { logger, lines } = createRecordingLogger();
  createClientAddress(TRUSTED, logger)(request('203.0.113.9', '1.2.3.4'));
  expect(lines).toEqual([]);
});

it('knows a connection that is gone by an empty address', () => {
  expect(createClientAddress(TRUSTED, silentLogger)(request(undefined, '1.2.3.4'))).toBe('');
});

it('never throws, whatever is forwarded', () => {
  const clientAddress = createClientAddress(TRUSTED, silentLogger);
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(typeof clientAddress(request('10.1.1.1', text))).toBe('string');
    }),
  );
});

it('writes a network of IPv6 in one way', () => {
  for (const text of [
    '2001:db8::1',
    '2001:0DB8:0:0::',
    '2001:db8:0:0:0:0:0:5',
    '2001:db8::1.2.3.4',
  ])
    expect(ipv6Network(text, 56)).toBe('2001:db8:0:0::/56');
  expect(ipv6Network('::1', 56)).toBe('0:0:0:0::/56');
  expect(ipv6Network('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 56)).toBe(
    'ffff:ffff:ffff:ff00::/56',
  );
});
