import { MAX_REQUEST_MS } from '../../../../src/wire/grpc/calls';
import { STREAM, UNARY, createGrpcCaller, message } from './grpc-caller';

const EXPIRED = ['grpc-status: 4', 'grpc-message: the deadline passed before there was an answer'];

describe('a deadline', () => {
  it('ends a call that the owner has not answered, and only that', () => {
    const caller = createGrpcCaller();
    const short = caller.open(UNARY, { 'grpc-timeout': '20m' });
    caller.data(short, message('a'));
    const long = caller.open(UNARY, { 'grpc-timeout': '50m' });
    caller.data(long, message('b'));
    expect(caller.grpc.nextDeadlineMs).toBe(1020);
    caller.passTo(1019);
    expect(caller.on(short).headers).toEqual([]);
    caller.passTo(1020);
    expect(caller.on(short).headers.slice(2)).toEqual(EXPIRED);
    expect(caller.on(long).headers).toEqual([]);
    expect(caller.told.at(-1)).toEqual({ what: 'cancel', callId: 0 });
    expect(caller.grpc.nextDeadlineMs).toBe(1050);
    caller.grpc.fail(0, { code: 14, message: 'late' });
    caller.read();
    expect(caller.on(short).headers).toHaveLength(4);
    caller.passTo(1050);
    expect(caller.on(long).ended).toBe(true);
    caller.passTo(1100);
    expect(caller.grpc.nextDeadlineMs).toBe(Infinity);
    expect(caller.told.filter(({ what }) => what === 'cancel')).toHaveLength(2);
  });

  it('of 0 has passed when the call comes', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, { 'grpc-timeout': '0n' });
    expect(caller.on(stream).headers.slice(2)).toEqual(EXPIRED);
    expect(caller.grpc.openCalls).toBe(0);
    expect(caller.told).toEqual([]);
  });

  it('ends a request that does not become complete', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, { 'grpc-timeout': '99999999H' });
    caller.data(stream, message('question').subarray(0, 8), false);
    caller.passTo(1000 + MAX_REQUEST_MS);
    expect(caller.on(stream).headers.slice(2)).toEqual(EXPIRED);
    expect(caller.told).toEqual([]);
  });

  it('does not end one that is complete and has none', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY);
    caller.data(stream, message('question'));
    caller.passTo(1e12);
    expect(caller.on(stream).headers).toEqual([]);
    expect(caller.grpc.nextDeadlineMs).toBe(Infinity);
  });

  it('longer than a request may take counts from the beginning', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(STREAM, { 'grpc-timeout': '2M' });
    caller.data(stream, message('question'), false);
    caller.passTo(1000 + 119_999);
    expect(caller.on(stream).headers).toEqual([]);
    caller.passTo(1000 + 120_000);
    expect(caller.on(stream).headers.slice(2)).toEqual(EXPIRED);
  });

  it('ends an answer that had begun with trailers', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(STREAM, { 'grpc-timeout': '1S' });
    caller.data(stream, message('question'), false);
    caller.grpc.send(0, Buffer.from('part'));
    caller.passTo(2000);
    expect(caller.on(stream).headers.slice(2)).toEqual(EXPIRED);
    expect(caller.on(stream).body).toEqual(message('part'));
  });
});
