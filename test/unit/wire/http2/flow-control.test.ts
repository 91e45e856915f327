import type { MessageEncoder } from '../../../../src/wire/http2/api';
import {
  data,
  describeFrame,
  END_STREAM,
  hello,
  request,
  rst,
  settings,
  settingsAck,
  windowUpdate,
} from '../../../support/h2-frames';
import {
  createH2Session,
  openH2Session,
  type SessionOptions,
  COPY,
} from '../../../support/h2-session';

const HEADERS = Buffer.from([0x88]);
const TRAILERS = Buffer.from([0x89]);

const answering = (bytes: number): SessionOptions => ({
  onComplete: ({ connection }, stream) => {
    connection.sendUnary(
      stream,
      { headers: HEADERS, trailers: TRAILERS },
      Buffer.alloc(bytes, 'x'),
      COPY,
    );
  },
});

describe('SETTINGS_INITIAL_WINDOW_SIZE', () => {
  it('moves the windows once per frame, to its last value', () => {
    const session = openH2Session();
    session.send(request(1), windowUpdate(1, 1000));
    session.send(settings([4, 0x7fffffff], [4, 10], [3, 5]));
    expect(session.connection.failure).toBeUndefined();
    const widest = 0x7fffffff - 1000;
    session.send(settings([4, 0x7fffffff], [4, widest]));
    expect(session.connection.failure).toBeUndefined();
    session.send(settings([4, 10], [4, widest + 1]));
    expect(session.connection.failure).toMatchObject({ errorCode: 3 });
  });

  it('ends the connection when the window of any stream overflows, wherever the table holds it', () => {
    for (const far of [1, 1 + 2 * 4096]) {
      const session = openH2Session();
      session.send(request(1), request(3), request(1 + 2 * 4096), windowUpdate(far, 1000));
      session.send(settings([4, 0x7fffffff]));
      expect(session.connection.failure).toMatchObject({ errorCode: 3 });
    }
  });
});

describe('what we let in', () => {
  it('opens both windows again when half of them is used, and not for the last DATA of a stream', () => {
    const session = openH2Session({ streamWindowBytes: 70_000, connectionWindowBytes: 100_000 });
    session.send(request(1, 0), data(1, 'x'.repeat(16_000)), data(1, 'x'.repeat(16_000)));
    expect(session.replies()).toEqual([]);
    session.send(data(1, 'x'.repeat(16_000)));
    expect(session.replies()).toEqual(['windowUpdate#1 48000']);
    session.send(data(1, 'x'.repeat(2000)));
    expect(session.replies()).toEqual(['windowUpdate#0 50000']);
    session.send(
      data(1, 'x'.repeat(16_000)),
      data(1, 'x'.repeat(16_000)),
      data(1, 'x'.repeat(2000), END_STREAM),
    );
    expect(session.replies()).toEqual([]);
  });

  it('counts padding, also that of frames for nothing', () => {
    const session = openH2Session({ connectionWindowBytes: 65_535 });
    session.send(request(1, 0), rst(1));
    const padded = Buffer.alloc(200, 0);
    padded[0] = 199;
    for (let i = 0; i < 163; i++) session.send(request(3 + 2 * i, 0), data(3 + 2 * i, padded, 0x9));
    expect(session.replies()).toEqual([]);
    session.send(request(801, 0), data(801, padded, 0x9));
    expect(session.replies()).toEqual(['windowUpdate#0 32800']);
  });

  it('lets the peer use the initial window until it has acknowledged a smaller one', () => {
    const small = { streamWindowBytes: 1000 };
    const early = createH2Session(small);
    early.send(
      hello(),
      request(1, 0),
      data(1, 'x'.repeat(1400)),
      data(1, 'y'.repeat(1400), END_STREAM),
    );
    expect(early.events.at(-1)).toMatch(/end$/);
    early.send(request(3, 0), settingsAck());
    early.frames();
    early.send(data(3, 'x'.repeat(1001)));
    expect(early.replies()).toEqual(['rst#3 3']);
    const late = openH2Session(small);
    late.send(request(1, 0), data(1, 'x'.repeat(1001)));
    expect(late.replies()).toEqual(['rst#1 3']);
    expect(late.events.at(-1)).toBe('reset#1 3');
  });
});

describe('what the peer lets out', () => {
  it('sends a unary answer as three frames', () => {
    const session = openH2Session(answering(5));
    session.send(request(1));
    const frames = session.frames();
    expect(frames.map(describeFrame)).toEqual(['headers#1', 'data#1 5', 'headers#1 end']);
    expect(frames.map(({ payload }) => payload.toString('latin1'))).toEqual([
      '\x88',
      'xxxxx',
      '\x89',
    ]);
    expect(session.connection).toMatchObject({ openStreams: 0, isIdle: true });
  });

  it('answers once: whatever is sent behind the end is dropped', () => {
    const session = openH2Session(answering(1));
    session.send(request(1), request(3, 0));
    const { connection } = session;
    connection.sendHeaders(session.stream(3), HEADERS, false);
    connection.sendData(session.stream(3), Buffer.from('a'), true);
    session.frames();
    for (const id of [1, 3]) {
      const stream = session.stream(id);
      expect(stream.closed).toBe(true);
      connection.sendHeaders(stream, HEADERS, true);
      connection.sendData(stream, Buffer.from('x'), true);
      connection.sendUnary(
        stream,
        { headers: HEADERS, trailers: TRAILERS },
        Buffer.from('x'),
        COPY,
      );
      connection.reset(stream, 8);
    }
    expect(session.replies()).toEqual([]);
  });

  it('says with NO_ERROR that it needs no more of a request that it has answered', () => {
    const session = openH2Session();
    session.send(request(1, 0));
    session.connection.sendUnary(
      session.stream(1),
      { headers: HEADERS, trailers: TRAILERS },
      Buffer.from('x'),
      COPY,
    );
    expect(session.replies()).toEqual(['headers#1', 'data#1 1', 'headers#1 end', 'rst#1 0']);
    session.send(data(1, 'late', END_STREAM));
    expect(session.events).toHaveLength(1);
    expect(session.replies()).toEqual([]);
  });

  it('queues what the stream window holds back, in order, with its trailers', () => {
    const session = createH2Session();
    session.send(hello([4, 4]), request(1));
    session.frames();
    const { connection } = session;
    const stream = session.stream(1);
    const piece = Buffer.from('abcdef');
    connection.sendHeaders(stream, HEADERS, false);
    connection.sendData(stream, piece, false);
    piece.fill(0);
    connection.sendData(stream, Buffer.from('ghi'), false);
    connection.sendHeaders(stream, HEADERS, false); // makes no sense behind DATA, and is not sent
    connection.sendHeaders(stream, TRAILERS, true);
    expect(session.replies()).toEqual(['headers#1', 'data#1 4']);
    expect(connection.queuedBytes(stream)).toBe(5);
    expect(connection.queuedResponseBytes).toBe(5);
    session.send(windowUpdate(1, 3));
    expect(session.frames().map(({ payload }) => payload.toString())).toEqual(['ef', 'g']);
    session.send(windowUpdate(1, 100));
    const last = session.frames();
    expect(last.map(describeFrame)).toEqual(['data#1 2', 'headers#1 end']);
    expect(last[0]?.payload.toString()).toBe('hi');
    expect(connection.queuedBytes(stream)).toBe(0);
    expect(connection.openStreams).toBe(0);
  });

  it('ends a queued answer with its last DATA, be it an empty piece', () => {
    const session = createH2Session();
    session.send(hello([4, 0]), request(1), request(3), request(5));
    session.frames();
    const { connection } = session;
    const [one, three, five] = [1, 3, 5].map((id) => session.stream(id)) as [never, never, never];
    connection.sendData(one, Buffer.from('ab'), true);
    connection.sendData(three, Buffer.from('cd'), false);
    connection.sendData(three, Buffer.alloc(0), true);
    connection.sendData(five, Buffer.from('ef'), false);
    session.send(windowUpdate(1, 2), windowUpdate(3, 2), windowUpdate(5, 2));
    expect(session.replies()).toEqual(['data#1 2 end', 'data#3 2 end', 'data#5 2']);
    connection.sendData(five, Buffer.alloc(0), false);
    connection.sendData(five, Buffer.alloc(0), true);
    expect(session.replies()).toEqual(['data#5 0 end']);
  });

  it('shares the connection window in the order of asking', () => {
    const session = openH2Session(answering(40_000));
    session.send(settings([4, 100_000]), request(1), request(3), request(5));
    session.frames();
    expect(session.connection.queuedResponseBytes).toBe(120_000 - 65_535);
    session.send(windowUpdate(0, 20_000));
    expect(session.replies()).toEqual(['data#3 14465', 'headers#3 end', 'data#5 5535']);
    session.send(windowUpdate(0, 100_000));
    expect(session.replies()).toEqual([
      'data#5 16384',
      'data#5 16384',
      'data#5 1697',
      'headers#5 end',
    ]);
  });

  it('moves all stream windows with INITIAL_WINDOW_SIZE, below zero too; the ACK comes first', () => {
    const session = createH2Session(answering(10));
    session.send(hello([4, 6]), request(1));
    session.frames();
    session.send(settings([4, 1]));
    expect(session.replies()).toEqual(['settings ack']);
    session.send(windowUpdate(1, 5));
    expect(session.replies()).toEqual([]);
    session.send(settings([4, 3]));
    expect(session.replies()).toEqual(['settings ack', 'data#1 2']);
    session.send(settings([4, 50]));
    expect(session.replies()).toEqual(['settings ack', 'data#1 2', 'headers#1 end']);
  });

  it('forgets what was queued with its stream', () => {
    const session = openH2Session(answering(70_000));
    session.send(request(1), request(3));
    session.frames();
    session.send(rst(1), rst(3));
    expect(session.connection.queuedResponseBytes).toBe(0);
    session.send(windowUpdate(0, 200_000));
    expect(session.replies()).toEqual([]);
  });

  it('goes on with the rest of a window that a stream could not use', () => {
    const session = openH2Session();
    session.send(settings([4, 65_000]), request(1), request(3));
    session.frames();
    session.connection.sendData(session.stream(1), Buffer.alloc(65_000), false);
    session.connection.sendData(session.stream(3), Buffer.alloc(70_000), true);
    session.frames();
    session.send(windowUpdate(0, 100_000));
    session.frames();
    expect(session.connection.queuedBytes(session.stream(3))).toBe(5000);
    session.send(windowUpdate(0, 1));
    expect(session.replies()).toEqual([]);
    session.send(windowUpdate(3, 5000));
    expect(session.replies()).toEqual(['data#3 5000 end']);
  });

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
  const { connection, send } = createH2Session(answering(5));
  const first = connection.takeOutput() ?? Buffer.alloc(0);
  connection.releaseOutput(first);
  send(hello(), request(1));
  const second = connection.takeOutput();
  expect(second?.byteOffset).toBe(first.byteOffset);
  expect(second?.buffer).toBe(first.buffer);
});

describe('once an answer is handed over', () => {
  it('tells no more of the request while the answer waits for a window', () => {
    const session = createH2Session();
    session.send(hello([4, 0]), request(1, 0), request(3, 0));
    for (const id of [1, 3]) {
      session.connection.sendUnary(
        session.stream(id),
        { headers: HEADERS, trailers: TRAILERS },
        Buffer.from('x'),
        COPY,
      );
    }
    session.send(data(1, 'late', END_STREAM), data(3, 'late'), request(3).subarray(0, 0));
    expect(session.events).toHaveLength(2);
    session.frames();
    session.send(windowUpdate(1, 1), windowUpdate(3, 1));
    expect(session.replies()).toEqual([
      'data#1 1',
      'headers#1 end',
      'data#3 1',
      'headers#3 end',
      'rst#3 0',
    ]);
  });
});
