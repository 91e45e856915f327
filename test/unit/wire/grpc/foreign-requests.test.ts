import { MAX_REQUEST_MS } from '../../../../src/wire/grpc/calls';
import { UNARY, createGrpcCaller } from './grpc-caller';

const FOREIGN = { 'content-type': 'text/plain' };
const REFUSED = ':status: 415';

describe('a request that is no gRPC call', () => {
  it('is refused when it ends, and its body is dropped', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, FOREIGN);
    expect(caller.on(stream).headers).toEqual([]);
    caller.data(stream, Buffer.alloc(100_000));
    expect(caller.on(stream).headers).toContain(REFUSED);
    expect(caller.on(stream)).toMatchObject({ ended: true, resetCode: undefined });
    expect(caller.grpc.nextDeadlineMs).toBe(Infinity);
  });

  it('may end with trailers', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, FOREIGN);
    caller.trailers(stream);
    expect(caller.on(stream).headers).toContain(REFUSED);
  });

  it('gets the error of a malformed rest', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, { ...FOREIGN, 'content-length': '3' });
    caller.data(stream, Buffer.alloc(2));
    expect(caller.on(stream)).toMatchObject({ headers: [], resetCode: 1 });
    expect(caller.grpc.nextDeadlineMs).toBe(Infinity);
  });

  it('is refused before its end when that does not come in time', () => {
    const caller = createGrpcCaller();
    caller.passTo(5_000);
    const early = caller.open(UNARY, FOREIGN);
    caller.passTo(6_000);
    const late = caller.open(UNARY, { ...FOREIGN, 'x-late': '1' });
    caller.data(early, Buffer.alloc(1), false);
    expect(caller.grpc.nextDeadlineMs).toBe(5_000 + MAX_REQUEST_MS);
    caller.passTo(5_000 + MAX_REQUEST_MS);
    expect(caller.on(early).headers).toContain(REFUSED);
    expect(caller.on(early).resetCode).toBe(0);
    expect(caller.on(late).headers).toEqual([]);
    expect(caller.grpc.nextDeadlineMs).toBe(6_000 + MAX_REQUEST_MS);
  });

  it('is forgotten when it is reset', () => {
    const caller = createGrpcCaller();
    caller.reset(caller.open(UNARY, FOREIGN));
    expect(caller.grpc.nextDeadlineMs).toBe(Infinity);
  });
});
