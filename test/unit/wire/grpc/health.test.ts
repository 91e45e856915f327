import { decodeHealthRequest, encodeHealthResponse } from '../../../../src/wire/grpc/health';
import { writeVarint } from '../../../../src/wire/protobuf/write';

const decode = (...bytes: number[]) => decodeHealthRequest(Uint8Array.from(bytes), 0, bytes.length);

describe('the health messages', () => {
  it('read the service, the last one of several, empty when there is none', () => {
    expect(decode()).toBe('');
    expect(decode(0x0a, 1, 0x61, 0x10, 5, 0x0a, 1, 0x62)).toBe('b');
  });

  it('refuse what is no message', () => {
    expect(decode(0x0a, 1, 0xff)).toEqual({
      kind: 'malformed',
      reason: 'a string is not valid UTF-8',
    });
    expect(decode(0x0a)).toEqual({ kind: 'malformed', reason: 'a varint is cut off' });
  });

  it('take a name of 1,024 bytes and refuse a longer one', () => {
    const named = (size: number) =>
      decode(0x0a, 0x80 | (size & 0x7f), size >> 7, ...Array<number>(size).fill(0x61));
    expect(named(1_024)).toBe('a'.repeat(1_024));
    expect(named(1_025)).toEqual({
      kind: 'malformed',
      reason: 'a service name is longer than 1024 bytes',
    });
  });

  it.each([
    ['UNKNOWN', []],
    ['SERVING', [8, 1]],
    ['NOT_SERVING', [8, 2]],
    ['SERVICE_UNKNOWN', [8, 3]],
  ] as const)('write %s', (status, bytes) => {
    expect([...encodeHealthResponse(status)]).toEqual(bytes);
  });

  it.each([0, 127, 128, 2 ** 32, 2 ** 53 - 1])('write the varint %d as protobuf does', (value) => {
    const bytes = new Uint8Array(10);
    const end = writeVarint(bytes, 0, value);
    let read = 0n;
    for (let at = end - 1; at >= 0; at--)
      read = (read << 7n) | BigInt((bytes[at] as number) & 0x7f);
    expect(Number(read)).toBe(value);
  });
});
