import * as fc from 'fast-check';
import {
  readDeltaResponse,
  readResources,
  readResponse,
} from '../../../../src/rule-sources/xds/read-response';
import { toMessage } from '../../../../src/rule-sources/xds/delta';
import { loadProtos } from '../../../../src/platform/proto-files';

const protos = loadProtos(['envoy/service/discovery/v3/ads.proto']);

function encode(message: string, value: object): Buffer {
  const type = protos[`envoy.service.discovery.v3.${message}`];
  if (type === undefined || !('serialize' in type)) throw new Error(`no message ${message}`);
  return (type.serialize as (value: object) => Buffer)(value);
}

const text = fc.string({ unit: 'grapheme' });
const anyResource = fc.record({ type_url: text, value: fc.uint8Array() });

describe('reading a response', () => {
  it('finds what the library wrote', () => {
    fc.assert(
      fc.property(text, text, text, fc.array(anyResource), (version, typeUrl, nonce, resources) => {
        const bytes = encode('DiscoveryResponse', {
          versionInfo: version,
          typeUrl,
          nonce,
          resources,
        });
        expect(readResponse(bytes)).toEqual({ version, typeUrl, nonce, bytes });
        expect(readResources(bytes).map((one) => [one.typeUrl, Buffer.from(one.value)])).toEqual(
          resources.map((one) => [one.type_url, Buffer.from(one.value)]),
        );
      }),
    );
  });

  it('finds what the library wrote of the delta protocol', () => {
    const resource = fc.record({ name: text, version: text, resource: anyResource });
    fc.assert(
      fc.property(text, fc.array(resource), fc.array(text), (nonce, resources, removed) => {
        const bytes = encode('DeltaDiscoveryResponse', {
          nonce,
          typeUrl: 't',
          resources,
          removedResources: removed,
        });
        const response = readDeltaResponse(bytes);
        expect(response).toMatchObject({ nonce, typeUrl: 't', removed });
        expect(response.changed.map(({ name, version }) => ({ name, version }))).toEqual(
          resources.map(({ name, version }) => ({ name, version })),
        );
        const state = response.changed.map(
          (one, index) =>
            [String(index), { version: '', resource: one.resource ?? new Uint8Array() }] as const,
        );
        expect(readResources(toMessage(new Map(state))).map((one) => one.typeUrl)).toEqual(
          resources.map((one) => one.resource.type_url),
        );
      }),
    );
  });

  it('skips what it does not know', () => {
    const known = encode('DiscoveryResponse', { versionInfo: 'v', nonce: 'n' });
    const unknown = Buffer.from([0x18, 0x01, 0x32, 0x02, 0x0a, 0x00, 0x45, 1, 2, 3, 4]);
    expect(readResponse(Buffer.concat([unknown, known]))).toMatchObject({
      version: 'v',
      nonce: 'n',
    });
  });

  it('never reads beyond a message that is cut off, and never hangs', () => {
    const whole = encode('DiscoveryResponse', {
      versionInfo: 'version',
      resources: [{ type_url: 'type', value: Buffer.alloc(200) }],
      nonce: 'nonce',
    });
    for (let length = 0; length < whole.length; length += 1) {
      const read = () => readResponse(whole.subarray(0, length));
      try {
        expect(read().bytes).toHaveLength(length);
      } catch (error) {
        expect(String(error)).toContain('not a protobuf message');
      }
    }
  });
});
