import fc from 'fast-check';
import { MAX_QUEUED_RESPONSE_BYTES } from '../../../../src/wire/grpc/connection';
import { MAX_PENDING_RESPONSE_BYTES } from '../../../../src/wire/grpc/calls';
import { STREAM, UNARY, createGrpcCaller, frame, message } from './grpc-caller';

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

  it('tells the end of one that is a single piece', () => {
    const caller = createGrpcCaller();
    caller.data(caller.open(STREAM), message('only'));
    expect(caller.told.map(({ what }) => what)).toEqual(['message', 'half-close']);
  });

  it('tells the end of one without a message', () => {
    const caller = createGrpcCaller();
    caller.open(STREAM, {}, true);
    expect(caller.told).toEqual([{ what: 'half-close', callId: 0 }]);
  });

  it('is not told of the end when the owner has ended it', () => {
    const caller = createGrpcCaller();
    caller.onTold(({ callId }) => {
      caller.grpc.fail(callId, { code: 3, message: 'no' });
    });
    const stream = caller.open(STREAM);
    caller.data(stream, message('only'));
    const other = caller.open(STREAM);
    caller.data(other, Buffer.concat([message('a'), message('b')]));
    expect(caller.told.map(({ text }) => text)).toEqual(['only', 'a']);
    expect(caller.on(stream).headers).toContain('grpc-status: 3');
    expect(caller.on(other).headers).toContain('grpc-status: 3');
  });

  it('gets each answer at once, and the end', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(STREAM);
    caller.data(stream, message('question'), false);
    caller.grpc.send(0, Buffer.from('one'));
    caller.grpc.send(0, Buffer.from('two'));
    caller.read();
    expect(caller.on(stream)).toMatchObject({
      body: Buffer.concat([message('one'), message('two')]),
      ended: false,
    });
    caller.grpc.finish(0);
    caller.read();
    expect(caller.on(stream)).toMatchObject({
      headers: [':status: 200', 'content-type: application/grpc', 'grpc-status: 0'],
      ended: true,
    });
  });

  it('may end without an answer', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(STREAM, {}, true);
    caller.grpc.finish(0);
    caller.read();
    expect(caller.on(stream)).toMatchObject({
      headers: [':status: 200', 'content-type: application/grpc', 'grpc-status: 0'],
      ended: true,
    });
  });

  it('fails in the middle with trailers', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(STREAM, {}, true);
    caller.grpc.send(0, Buffer.from('one'));
    caller.grpc.fail(0, { code: 14, message: 'stopping' });
    caller.read();
    expect(caller.on(stream).headers.slice(2)).toEqual([
      'grpc-status: 14',
      'grpc-message: stopping',
    ]);
  });

  it.each([
    ['is cut off', message('abc').subarray(0, 6)],
    ['has an unknown flag', message('abc', 7)],
  ])('fails when its second message %s, and the owner is told', (_, second) => {
    const caller = createGrpcCaller();
    const stream = caller.open(STREAM);
    caller.data(stream, Buffer.concat([message('a'), second]));
    expect(caller.on(stream).headers).toContain('grpc-status: 13');
    expect(caller.told.map(({ what }) => what)).toEqual(['message', 'cancel']);
    caller.grpc.finish(0);
    expect(caller.grpc.openCalls).toBe(0);
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

  it('gets its next message when the answer to the one before has left, and its end after all', () => {
    const caller = createGrpcCaller();
    caller.onTold(({ what, callId, text }) => {
      if (what === 'message') caller.grpc.send(callId, Buffer.from(`re ${String(text)}`));
      else caller.grpc.finish(callId);
    });
    const stream = caller.open(STREAM);
    caller.data(stream, Buffer.concat(['a', 'b', 'c'].map((text) => message(text))));
    expect(caller.told.map(({ text }) => text)).toEqual(['a']);
    for (const told of [2, 4, 4]) {
      caller.grpc.readOn();
      caller.read();
      expect(caller.told).toHaveLength(told);
    }
    expect(caller.on(stream)).toMatchObject({
      body: Buffer.concat(['re a', 're b', 're c'].map((text) => message(text))),
      ended: true,
    });
    expect(caller.grpc).toMatchObject({ openCalls: 0, heldBytes: 0 });
  });

  it('waits with its next message while the window of its stream is shut', () => {
    const caller = createGrpcCaller({ window: 4 });
    caller.onTold(({ callId }) => {
      caller.grpc.send(callId, Buffer.from('answer'));
    });
    const stream = caller.open(STREAM);
    caller.data(stream, Buffer.concat([message('a'), message('b')]), false);
    caller.grpc.readOn();
    expect(caller.told).toHaveLength(1);
    caller.send(frame(8, 0, stream, Buffer.from([0, 0, 0, 100])));
    caller.grpc.readOn();
    expect(caller.told).toHaveLength(2);
    caller.reset(stream);
    caller.grpc.readOn();
    expect(caller.told.at(-1)).toEqual({ what: 'cancel', callId: 0 });
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

  it('fails at a wrong message only when those before it are answered', () => {
    const caller = createGrpcCaller();
    caller.onTold(({ what, callId }) => {
      if (what === 'message') caller.grpc.send(callId, Buffer.from('answer'));
    });
    const stream = caller.open(STREAM);
    caller.data(stream, Buffer.concat([message('a'), message('b'), message('c', 7)]), false);
    expect(caller.on(stream).headers).not.toContain('grpc-status: 13');
    caller.grpc.readOn();
    caller.read();
    expect(caller.told.map(({ text }) => text)).toEqual(['a', 'b', undefined]);
    expect(caller.on(stream).headers).toContain('grpc-status: 13');
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

  it('is refused while the service holds too much, and so is every other new call', () => {
    const caller = createGrpcCaller();
    caller.refuseCalls(true);
    const streams = [caller.open(STREAM), caller.open(UNARY)];
    for (const stream of streams) {
      caller.data(stream, message('question'));
      expect(caller.on(stream).headers).toContain('grpc-status: 8');
    }
    caller.refuseCalls(false);
    caller.data(caller.open(UNARY), message('question'));
    expect(caller.told).toHaveLength(1);
  });

  it('waits for the window of a slow reader', () => {
    const caller = createGrpcCaller({ window: 10 });
    const stream = caller.open(UNARY);
    caller.data(stream, message('question'));
    caller.grpc.send(0, Buffer.from('0123456789'));
    caller.grpc.finish(0);
    caller.read();
    expect(caller.on(stream)).toMatchObject({ ended: false });
    expect(caller.on(stream).body).toHaveLength(10);
    const more = Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 1, 0, 0, 0, 50]);
    caller.send(more);
    expect(caller.on(stream)).toMatchObject({ ended: true, body: message('0123456789') });
  });

  it('holds nothing at first, however large its messages may be', () => {
    const bounds = { maxBytes: 16_777_216, maxRatio: 100 };
    expect(createGrpcCaller({ bounds }).grpc.heldBytes).toBe(0);
  });
});
