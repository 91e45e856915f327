import { hello, parseFrames, request, settingsAck, Type } from '../../../support/h2-frames';
import { createHttp2Connection } from '../../../../src/wire/http2/connection';

describe('an owner that throws', () => {
  it('ends the connection with INTERNAL_ERROR, even when it throws again', () => {
    const cause = new Error('owner');
    const throwing = () => {
      throw cause;
    };
    const connection = createHttp2Connection({
      onRequest: throwing,
      onData: throwing,
      onTrailers: throwing,
      onReset: throwing,
    });
    connection.receive(Buffer.concat([hello(), settingsAck(), request(1)]), 0);
    expect(connection.failure).toMatchObject({ errorCode: 2, cause });
    expect(connection.wantsClose).toBe(true);
    expect(parseFrames(connection.takeOutput() ?? Buffer.alloc(0)).at(-1)?.type).toBe(Type.goAway);
  });

  it('does so in tick', () => {
    const connection = createHttp2Connection({
      onRequest: (stream) => {
        connection.sendHeaders(stream, Buffer.from([0x88]), false);
        connection.sendData(stream, Buffer.from('x'), true);
      },
      onData: () => undefined,
      onTrailers: () => undefined,
      onReset: () => {
        throw new Error('owner');
      },
    });
    connection.receive(Buffer.concat([hello([4, 0]), request(1)]), 0);
    connection.tick(1e6);
    expect(connection.failure).toMatchObject({ errorCode: 2 });
  });
});
