import fc from 'fast-check';
import { isIP } from 'node:net';
import { parseNetwork, ProxyHops, type Network } from '../../../src/platform/proxy-hops';

const TRUSTED = ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'].map(
  (text) => parseNetwork(text) as Network,
);
const hops = new ProxyHops(TRUSTED);

it.each([
  ['10.0.0.0/8', { address: '10.0.0.0', prefix: 8 }],
  ['192.0.2.1', { address: '192.0.2.1', prefix: undefined }],
  ['fd00::/128', { address: 'fd00::', prefix: 128 }],
  ['10.0.0.0/33', undefined],
  ['fd00::/129', undefined],
  ['10.0.0/8', undefined],
  ['proxy', undefined],
  ['', undefined],
])('reads the network %j', (text, network) => {
  expect(parseNetwork(text)).toEqual(network);
});

const addresses = fc.oneof(fc.ipV4(), fc.ipV6());
const proxies = fc.constantFrom('10.1.1.1', '192.0.2.1', 'fd00::7', '::ffff:10.9.9.9');
const strangers = addresses.filter((address) => !hops.isTrusted(address));

it('finds the client whatever it writes before what trusted proxies write', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string(), { maxLength: 20 }),
      strangers.filter((address) => !address.startsWith('::ffff:')),
      fc.array(proxies, { maxLength: 5 }),
      (lies, client, between) => {
        const written = [...lies, client, ...between].join(', ');
        expect(hops.clientOf('10.0.0.1', [written])).toBe(client.split('%')[0]);
      },
    ),
  );
});

it('believes nothing that a stranger sends', () => {
  fc.assert(
    fc.property(strangers, fc.array(fc.string()), (peer, values) => {
      expect(hops.clientOf(peer, values)).toBe(peer);
    }),
  );
});

it('answers an address, whatever is forwarded', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), addresses)), (values) => {
      expect(isIP(hops.clientOf('10.0.0.1', values))).not.toBe(0);
    }),
  );
});

it('looks at no more hops than it needs', () => {
  const thousand = Array.from({ length: 1_000 }, () => '10.1.1.1').join(',');
  expect(hops.clientOf('10.0.0.1', [`203.0.113.9,${thousand}`])).toBe('203.0.113.9');
  expect(hops.clientOf('10.0.0.1', [`${thousand},203.0.113.9`])).toBe('203.0.113.9');
});
