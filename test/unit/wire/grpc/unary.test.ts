import fc from 'fast-check';
import { MAX_BUFFERED_BYTES } from '../../../../src/wire/grpc/body';
import { FREE_UNPACKED_BYTES } from '../../../../src/wire/unpacked-limit';
import { framed } from '../../../../src/wire/grpc/responses';
import { UNARY, createGrpcCaller, message } from './grpc-caller';
import { MESSAGE_BOUNDS } from '../../../support/bounds';

const TEXT = framed<string>({
  maxBytes: () => 100,
  write: (text, out, at) => at + Buffer.from(out.buffer, out.byteOffset).write(text, at),
});

describe('a unary call', () => {
  it('keeps what its owner made of its headers until it ends', () => {
    const caller = createGrpcCaller({ createCallContext: (_method, { names }) => names.join() });
    const stream = caller.open(UNARY, { 'grpc-timeout': '5S' });
    caller.data(stream, message('question'));
    expect(caller.grpc.callContext(0)).toBe(
      ':method,:scheme,:path,:authority,content-type,te,grpc-timeout',
    );
    caller.grpc.answer(0, 'answer', TEXT);
    expect(caller.grpc.callContext(0)).toBeUndefined();
  });

  it('has the time that its caller gives it, until it ends', () => {
    const caller = createGrpcCaller();
    caller.open(UNARY, { 'grpc-timeout': '5S' });
    caller.open(UNARY);
    expect([0, 1].map((id) => caller.grpc.timeoutMs(id))).toEqual([5_000, Infinity]);
    caller.grpc.answer(0, 'answer', TEXT);
    expect(caller.grpc.timeoutMs(0)).toBe(Infinity);
  });

  it('is the same however its octets are cut', () => {
    const whole = message('a question of some length');
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.boolean(), (size, emptyEnd) => {
        const caller = createGrpcCaller();
        const stream = caller.open(UNARY);
        caller.data(stream, whole, !emptyEnd, size);
        if (emptyEnd) {
          expect(caller.told).toEqual([]);
          caller.data(stream, Buffer.alloc(0));
        }
        expect(caller.told).toEqual([
          { what: 'message', callId: 0, text: 'a question of some length' },
        ]);
      }),
    );
  });

  it('is refused when too many unfinished messages are held, and not when they are let go', () => {
    const caller = createGrpcCaller();
    const almost = message(Buffer.alloc(MESSAGE_BOUNDS.maxBytes - 10)).subarray(0, -1);
    const open = () => {
      const stream = caller.open(UNARY);
      caller.data(stream, almost, false);
      return stream;
    };
    const held: number[] = [];
    for (let bytes = 0; bytes <= MAX_BUFFERED_BYTES; bytes += almost.length) held.push(open());
    const refused = held.filter((stream) => caller.on(stream).headers.includes('grpc-status: 8'));
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThan(held.length);
    for (const stream of held) caller.reset(stream);
    expect(caller.on(open()).headers).toEqual([]);
    expect(caller.told).toEqual([]);
  });
});

describe('a compressed message', () => {
  it.each([
    [FREE_UNPACKED_BYTES + 10 * 600, true],
    [FREE_UNPACKED_BYTES + 10 * 600 + 1, false],
  ])('of 600 bytes that unpacks to %i bytes passes a ratio of 10: %s', (bytes, passes) => {
    const caller = createGrpcCaller({
      bounds: { maxBytes: 2 * FREE_UNPACKED_BYTES, maxRatio: 10 },
      inflate: (_packed, maxBytes) => (bytes > maxBytes ? 'too-large' : Buffer.alloc(bytes)),
    });
    const stream = caller.open(UNARY, { 'grpc-encoding': 'gzip' });
    caller.data(stream, message(Buffer.alloc(600), 1));
    expect(caller.told).toHaveLength(passes ? 1 : 0);
    expect(caller.on(stream).headers.slice(2)).toEqual(
      passes
        ? []
        : [
            'grpc-status: 8',
            'grpc-message: the message unpacks to more than MAX_UNPACK_RATIO (10) times its size',
          ],
    );
  });
});
