import { STREAM, UNARY, createGrpcCaller, message } from './grpc-caller';

const REFUSED = ['content-type: application/grpc'];

describe('a call that is refused at its headers', () => {
  it.each([
    ['an unknown method', '/test.Service/Other', 'unknown method Other of service test.Service'],
    ['an unknown service', '/no.Service/Unary', 'unknown service no.Service'],
    ['a path that names no method', '/test.Service', 'malformed method name "/test.Service"'],
    [
      'a path that goes on',
      '/test.Service/Unary/x',
      'malformed method name "/test.Service/Unary/x"',
    ],
    ['a path in other letters', '/test.service/unary', 'unknown service test.service'],
  ])('is UNIMPLEMENTED for %s', (_, path, text) => {
    const caller = createGrpcCaller();
    const stream = caller.open(path, {}, true);
    expect(caller.on(stream)).toMatchObject({
      headers: [':status: 200', ...REFUSED, 'grpc-status: 12', `grpc-message: ${text}`],
      ended: true,
      resetCode: undefined,
    });
    expect(caller.told).toEqual([]);
    expect(caller.grpc.openCalls).toBe(0);
  });

  it.each([
    ['text/plain', '"text/plain"'],
    ['application/grpcx', '"application/grpcx"'],
    ['application/json', '"application/json"'],
    [undefined, '""'],
  ])('gets HTTP 415 for the content type %s', (type, shown) => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, { 'content-type': type }, true);
    expect(caller.on(stream).headers).toEqual([
      ':status: 415',
      ...REFUSED,
      'grpc-status: 3',
      `grpc-message: invalid gRPC request content-type ${shown}`,
    ]);
  });

  it.each(['GET', 'PUT'])('gets HTTP 405 for the method %s', (httpMethod) => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, { ':method': httpMethod }, true);
    expect(caller.on(stream).headers).toEqual([
      ':status: 405',
      ...REFUSED,
      'grpc-status: 13',
      'grpc-message: a gRPC call is a POST',
      'allow: POST',
    ]);
  });

  it('is INTERNAL for a timeout that is none', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, { 'grpc-timeout': '20 minutes' }, true);
    expect(caller.on(stream).headers).toContain(
      'grpc-message: malformed grpc-timeout "20 minutes"',
    );
    expect(caller.on(stream).headers).toContain('grpc-status: 13');
  });

  it('is UNIMPLEMENTED for an encoding that we do not read, and names those that we do', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, { 'grpc-encoding': 'snappy' }, true);
    expect(caller.on(stream).headers).toEqual([
      ':status: 200',
      ...REFUSED,
      'grpc-status: 12',
      'grpc-message: grpc-encoding "snappy" is not one of identity,gzip',
      'grpc-accept-encoding: identity,gzip',
    ]);
  });

  it('shows no more of what the caller sent than a header holds', () => {
    const caller = createGrpcCaller();
    const stream = caller.open(UNARY, { 'content-type': 'x'.repeat(5000) }, true);
    expect(caller.on(stream).headers.join().length).toBeLessThan(400);
  });

  it('is answered before its body, which is not waited for', () => {
    const caller = createGrpcCaller();
    const stream = caller.open('/no.Service/Unary');
    expect(caller.on(stream).ended).toBe(true);
    caller.data(stream, message('body'));
    expect(caller.told).toEqual([]);
    expect(caller.grpc.http2.failure).toBeUndefined();
  });
});

describe('a call that is accepted', () => {
  it.each(['application/grpc+proto', 'application/grpc;charset=utf-8', 'Application/GRPC'])(
    'may have the content type %s',
    (type) => {
      const caller = createGrpcCaller();
      caller.data(caller.open(UNARY, { 'content-type': type }), message('m'));
      expect(caller.told).toEqual([{ what: 'message', callId: 0, text: 'm' }]);
    },
  );

  it.each([
    ['te', undefined],
    ['grpc-encoding', 'identity'],
    ['grpc-accept-encoding', 'snappy'],
    ['user-agent', 'x'],
  ])('may have %s: %s', (name, value) => {
    const caller = createGrpcCaller();
    caller.data(caller.open(STREAM, { [name]: value }), message('m'), false);
    expect(caller.told).toEqual([{ what: 'message', callId: 0, text: 'm' }]);
  });
});
