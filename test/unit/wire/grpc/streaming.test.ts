import fc from 'fast-check';
import { MAX_QUEUED_RESPONSE_BYTES } from '../../../../src/wire/grpc/connection';
import { MAX_PENDING_RESPONSE_BYTES } from '../../../../src/wire/grpc/calls';
import { STREAM, createGrpcCaller, frame, message } from './grpc-caller';

describe('a call of several messages', () => {
  it('hands each on as it comes, however the octets are cut', () => {
    const texts = ['first', '', 'third, a little longer'];
    const whole = Buffer.concat(texts.map((text) => message(text)));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (size) => {
        const caller = createGrpcCaller();
        caller.data(caller.open(STREAM), whole, true, size);
        expect(caller.told).toEqual([
          ...texts.map((text) => ({ what: 'message', callId: 0, text })),
          { what: 'half-close', callId: 0 },
        ]);
      }),
    );
  });

  it('ends for a caller who does not read its answers', () => {
    const caller = createGrpcCaller({ window: 1000 });
    const stream = caller.open(STREAM, {}, true);
    const answer = Buffer.alloc(16_384);
    for (
      let bytes = 0;
      bytes <= MAX_QUEUED_RESPONSE_BYTES + answer.length;
      bytes += answer.length
    ) {
      caller.grpc.send(0, answer);
    }
    caller.read();
    expect(caller.on(stream).resetCode).toBe(0xb);
    expect(caller.told.at(-1)).toEqual({ what: 'cancel', callId: 0 });
    caller.grpc.send(0, answer);
    caller.grpc.finish(0);
    expect(caller.grpc.openCalls).toBe(0);
    expect(caller.grpc.http2.queuedResponseBytes).toBe(0);
  });

  it('waits with its first message while much output waits', () => {
    const caller = createGrpcCaller();
    const answer = Buffer.alloc(10_000);
    caller.onTold(({ callId }) => {
      caller.grpc.send(callId, answer);
    });
    const streams = Array.from({ length: 20 }, () => caller.open(STREAM));
    const frames = streams.map((stream) => frame(0, 0, stream, message('question')));
    caller.grpc.receive(Buffer.concat(frames), 1000);
    const atOnce = Math.ceil(MAX_PENDING_RESPONSE_BYTES / answer.length);
    expect(caller.told).toHaveLength(atOnce);
    expect(caller.grpc.heldBytes).toBeLessThan(MAX_PENDING_RESPONSE_BYTES + 2 * answer.length);
    for (let reads = 1; reads < 3; reads++) {
      caller.read();
      caller.grpc.readOn();
    }
    expect(caller.told).toHaveLength(20);
  });

  it('copies no message that waits when the one before it is handed on', () => {
    const copied = jest.spyOn(Uint8Array.prototype, 'copyWithin');
    const set = jest.spyOn(Uint8Array.prototype, 'set');
    const caller = createGrpcCaller();
    const count = 3_000;
    const stream = caller.open(STREAM);
    caller.data(stream, Buffer.concat(Array.from({ length: count }, () => message(''))), false);
    expect(caller.told).toHaveLength(count);
    expect(copied.mock.calls.length + set.mock.calls.length).toBeLessThan(50);
    copied.mockRestore();
    set.mockRestore();
  });

  it('holds nothing at first, however large its messages may be', () => {
    const bounds = { maxBytes: 16_777_216, maxRatio: 100 };
    expect(createGrpcCaller({ bounds }).grpc.heldBytes).toBe(0);
  });
});
