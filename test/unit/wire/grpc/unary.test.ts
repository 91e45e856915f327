import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { inflate } from '../../../../src/transport/grpc/wire/connections';
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
  it('gets its message to the owner and its answer back', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY);
    caller.data(stream, message('question'));
    expect(caller.told).toEqual([{ what: 'message', callId: 0, text: 'question' }]);
    expect(caller.grpc.openCalls).toBe(1);
    caller.grpc.answer(0, 'answer', TEXT);
    caller.read();
    expect(caller.on(stream)).toEqual({
      headers: [':status: 200', 'content-type: application/grpc', 'grpc-status: 0'],
      body: message('answer'),
      ended: true,
      resetCode: undefined,
    });
    expect(caller.grpc.openCalls).toBe(0);
  });

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

  it('may end with trailers', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY);
    caller.data(stream, message('question'), false);
    caller.trailers(stream);
    expect(caller.told).toHaveLength(1);
  });

  it('may carry an empty message and nothing', () => {
    const caller = createGrpcCaller();
    caller.data(caller.open(UNARY), message(''));
    expect(caller.told).toEqual([{ what: 'message', callId: 0, text: '' }]);
  });

  it('has its own call id until it is answered', () => {
    const caller = createGrpcCaller();
    const streams = ['a', 'b', 'c'].map((text) => {
      const stream = caller.open(UNARY);
      caller.data(stream, message(text));
      return stream;
    });
    expect(caller.told.map(({ callId }) => callId)).toEqual([0, 1, 2]);
    caller.grpc.answer(1, 'to b', TEXT);
    caller.data(caller.open(UNARY), message('d'));
    expect(caller.told.at(-1)).toEqual({ what: 'message', callId: 1, text: 'd' });
    caller.grpc.answer(2, 'to c', TEXT);
    caller.grpc.answer(0, 'to a', TEXT);
    caller.read();
    expect(streams.map((stream) => caller.on(stream).body)).toEqual(
      ['to a', 'to b', 'to c'].map((text) => message(text)),
    );
  });

  it('is answered once', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY);
    caller.data(stream, message('question'));
    caller.grpc.answer(0, 'first', TEXT);
    caller.grpc.answer(0, 'second', TEXT);
    caller.grpc.fail(0, { code: 13, message: 'third' });
    caller.grpc.send(0, Buffer.from('fourth'));
    caller.grpc.finish(0);
    caller.grpc.answer(77, 'nobody', TEXT);
    caller.read();
    expect(caller.on(stream).body).toEqual(message('first'));
    expect(caller.on(stream).headers).toHaveLength(3);
  });

  it('fails with trailers only', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY);
    caller.data(stream, message('question'));
    caller.grpc.fail(0, { code: 14, message: 'store é away' });
    caller.read();
    expect(caller.on(stream)).toMatchObject({
      headers: [
        ':status: 200',
        'content-type: application/grpc',
        'grpc-status: 14',
        'grpc-message: store %C3%A9 away',
      ],
      ended: true,
    });
  });

  it.each([
    ['no message', [Buffer.alloc(0)], 12, 'no message for a unary call'],
    ['two messages', [message('a'), message('b')], 12, 'more than one message for a unary call'],
    ['part of a prefix', [Buffer.from([0, 0, 0])], 13, 'the request ended within a message'],
    [
      'part of a message',
      [message('abc').subarray(0, 7)],
      13,
      'the request ended within a message',
    ],
    ['an unknown flag', [message('a', 2)], 13, 'message flag 2 is neither 0 nor 1'],
    [
      'a packed message without an encoding',
      [message('a', 1)],
      13,
      'compressed message without a grpc-encoding',
    ],
  ])('fails for %s', (_, pieces, code, text) => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY);
    caller.data(stream, Buffer.concat(pieces));
    expect(caller.on(stream)).toMatchObject({ ended: true, body: Buffer.alloc(0) });
    expect(caller.on(stream).headers.slice(2)).toEqual([
      `grpc-status: ${String(code)}`,
      `grpc-message: ${text}`,
    ]);
    expect(caller.told).toEqual([]);
    expect(caller.grpc.openCalls).toBe(0);
  });

  it('fails without a body', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, {}, true);
    expect(caller.on(stream).headers).toContain('grpc-status: 12');
  });

  it('fails by its second message before the end of the request', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY);
    caller.data(stream, message('a'), false);
    caller.data(stream, message('b'), false);
    expect(caller.on(stream).headers).toContain('grpc-status: 12');
    caller.data(stream, message('c'));
    expect(caller.told).toEqual([]);
  });

  it('is refused at the prefix of a message over 4 MiB, which is not waited for', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY);
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(MESSAGE_BOUNDS.maxBytes + 1, 1);
    caller.data(stream, prefix, false);
    expect(caller.on(stream).headers.slice(2)).toEqual([
      'grpc-status: 8',
      'grpc-message: received message larger than max (4194305 vs. 4194304)',
    ]);
  });

  it('is refused over a bound that is less than a frame', () => {
    const caller = createGrpcCaller({ bounds: { maxBytes: 1_024, maxRatio: 100 } });
    const refused = caller.open(UNARY);
    caller.data(refused, message(Buffer.alloc(1_025)));
    expect(caller.on(refused).headers).toContain(
      'grpc-message: received message larger than max (1025 vs. 1024)',
    );
    caller.data(caller.open(UNARY), message(Buffer.alloc(1_024, 0x61)));
    expect(caller.told.map(({ text }) => text?.length)).toEqual([1_024]);
  });

  it('takes a message of 4 MiB', () => {
    const caller = createGrpcCaller();
    caller.data(caller.open(UNARY), message(Buffer.alloc(MESSAGE_BOUNDS.maxBytes, 0x61)));
    expect(caller.told[0]?.text).toHaveLength(MESSAGE_BOUNDS.maxBytes);
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

  it('is unpacked', () => {
    const caller = createGrpcCaller({ inflate });
    const stream = caller.open(UNARY, { 'grpc-encoding': 'gzip' });
    caller.data(stream, message(gzipSync('question'), 1));
    expect(caller.told).toEqual([{ what: 'message', callId: 0, text: 'question' }]);
  });

  it('may be plain all the same', () => {
    const caller = createGrpcCaller({ inflate });
    caller.data(caller.open(UNARY, { 'grpc-encoding': 'gzip' }), message('question'));
    expect(caller.told).toHaveLength(1);
  });

  it.each([
    ['no gzip', Buffer.from('no gzip'), 13, 'the message is not valid gzip'],
    [
      'a small bomb',
      gzipSync(Buffer.alloc(2 * FREE_UNPACKED_BYTES)),
      8,
      'the message unpacks to more than MAX_UNPACK_RATIO (100) times its size',
    ],
    [
      'a large one',
      gzipSync(Buffer.alloc(64 * 1024 * 1024)),
      8,
      'received message larger than max (4194305 vs. 4194304)',
    ],
  ])('fails for %s', (_, packed, code, text) => {
    const caller = createGrpcCaller({ inflate });
    const stream = caller.open(UNARY, { 'grpc-encoding': 'gzip' });
    caller.data(stream, message(packed, 1));
    expect(caller.on(stream).headers.slice(2)).toEqual([
      `grpc-status: ${String(code)}`,
      `grpc-message: ${text}`,
    ]);
    expect(caller.told).toEqual([]);
  });
});

describe('a caller who is gone', () => {
  it('is forgotten while its request is not complete', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY);
    caller.data(stream, message('question').subarray(0, 8), false);
    caller.reset(stream);
    expect(caller.told).toEqual([]);
    expect(caller.grpc.openCalls).toBe(0);
  });

  it('is told of, and its call id waits for the answer that nobody gets', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY);
    caller.data(stream, message('question'));
    caller.reset(stream, 2);
    expect(caller.told.at(-1)).toEqual({ what: 'cancel', callId: 0 });
    caller.data(caller.open(UNARY), message('other'));
    expect(caller.told.at(-1)).toEqual({ what: 'message', callId: 1, text: 'other' });
    caller.grpc.answer(0, 'late', TEXT);
    caller.read();
    expect(caller.on(stream).headers).toEqual([]);
    expect(caller.grpc.openCalls).toBe(1);
  });

  it('is told of for each call when the connection is lost', () => {
    const caller = createGrpcCaller();
    for (const text of ['a', 'b']) caller.data(caller.open(UNARY), message(text));
    caller.open(UNARY);
    caller.grpc.http2.connectionLost();
    expect(caller.told.filter(({ what }) => what === 'cancel')).toHaveLength(2);
    caller.grpc.fail(0, { code: 14, message: 'late' });
    caller.grpc.finish(1);
    expect(caller.grpc.openCalls).toBe(0);
  });
});
