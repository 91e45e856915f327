import type { MessageEncoder } from '../../../../src/wire/http2/api';
import { describeFrame, hello, request, settings, windowUpdate } from '../../../support/h2-frames';
import { COPY, createH2Session, openH2Session } from '../../../support/h2-session';

const HEADERS = Buffer.from([0x88]);
const TRAILERS = Buffer.from([0x89]);

describe('what the peer lets out', () => {
  it('splits blocks and bodies that are longer than a frame', () => {
    const session = openH2Session();
    session.send(request(1));
    session.connection.sendHeaders(session.stream(1), Buffer.alloc(40_000, 0x88), false);
    session.connection.sendData(session.stream(1), Buffer.alloc(20_000), false);
    session.connection.sendUnary(
      session.stream(1),
      { headers: Buffer.alloc(16_385, 0x88), trailers: TRAILERS },
      Buffer.alloc(1),
      COPY,
    );
    const frames = session.frames();
    expect(frames.map(describeFrame)).toEqual([
      'headers#1',
      'continuation#1',
      'continuation#1',
      'data#1 16384',
      'data#1 3616',
      'headers#1',
      'continuation#1',
      'data#1 1',
      'headers#1 end',
    ]);
    expect(frames.map(({ flags }) => flags & 4).slice(0, 3)).toEqual([0, 0, 4]);
  });

  it('lets the owner write its message straight into the output, or nothing if it throws', () => {
    const session = openH2Session();
    session.send(request(1), request(3), settings([4, 2]), request(5));
    session.frames();
    const { connection } = session;
    const blocks = { headers: HEADERS, trailers: TRAILERS };
    const encoder: MessageEncoder<string> = {
      maxBytes: () => 1000,
      write: (text, out, at) => at + Buffer.from(out.buffer, out.byteOffset).write(text, at),
    };
    const write = () => {
      throw new Error('no');
    };
    connection.sendUnary(session.stream(1), blocks, 'ab', encoder);
    expect(() => {
      connection.sendUnary(session.stream(3), blocks, 'x', { ...encoder, write });
    }).toThrow('no');
    connection.sendUnary(session.stream(5), blocks, 'abc', encoder);
    expect(session.replies()).toEqual([
      'headers#1',
      'data#1 2',
      'headers#1 end',
      'headers#5',
      'data#5 2',
    ]);
    session.send(windowUpdate(5, 1));
    expect(session.replies()).toEqual(['data#5 1', 'headers#5 end']);
    expect(connection.openStreams).toBe(1);
  });
});

it('writes into memory that the owner has given back', () => {
  const { connection, send } = createH2Session({
    onComplete: ({ connection: { sendHeaders } }, stream) => {
      sendHeaders(stream, HEADERS, true);
    },
  });
  const first = connection.takeOutput() ?? Buffer.alloc(0);
  connection.releaseOutput(first);
  send(hello(), request(1));
  const second = connection.takeOutput();
  expect(second?.byteOffset).toBe(first.byteOffset);
  expect(second?.buffer).toBe(first.buffer);
});
