import fc from 'fast-check';
import { MAX_QUEUED_ANSWER_BYTES } from '../../../../src/wire/grpc/connection';
import { STREAM, UNARY, createGrpcCaller, message } from './grpc-caller';

describe('a call of several messages', () => {
  it('hands each on as it comes, however the octets are cut', () => {
    const texts = ['first', '', 'third, a little longer'];
    const whole = Buffer.concat(texts.map((text) => message(text)));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (size) => {
        const caller = createGrpcCaller();
        caller.data(caller.open(STREAM), whole, true, size);
        expect(caller.told).toEqual([
          ...texts.map((text) => ({ what: 'message', ticket: 0, text })),
          { what: 'half-close', ticket: 0 },
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
    expect(caller.told).toEqual([{ what: 'half-close', ticket: 0 }]);
  });

  it('is not told of the end when the owner has ended it', () => {
    const caller = createGrpcCaller();
    caller.onTold(({ ticket }) => {
      caller.grpc.fail(ticket, { code: 3, message: 'no' });
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
    for (let bytes = 0; bytes <= MAX_QUEUED_ANSWER_BYTES + answer.length; bytes += answer.length) {
      caller.grpc.send(0, answer);
    }
    caller.read();
    expect(caller.on(stream).resetCode).toBe(0xb);
    expect(caller.told.at(-1)).toEqual({ what: 'cancel', ticket: 0 });
    caller.grpc.send(0, answer);
    caller.grpc.finish(0);
    expect(caller.grpc.openCalls).toBe(0);
    expect(caller.grpc.http2.queuedAnswerBytes).toBe(0);
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
});
