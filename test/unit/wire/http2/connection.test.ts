import {
  ACK,
  data,
  END_HEADERS,
  END_STREAM,
  field,
  frame,
  hello,
  parseFrames,
  PADDED,
  ping,
  PREFACE,
  PRIORITY,
  POST_ROOT,
  request,
  rst,
  settings,
  settingsAck,
  Type,
  uint32,
  windowUpdate,
} from '../../../support/h2-frames';
import { createHttp2Connection } from '../../../../src/wire/http2/connection';
import { createH2Session, openH2Session, COPY } from '../../../support/h2-session';

const GOT_ROOT = ':method=POST :path=/ :scheme=http :authority=rls.test';

describe('the beginning of a connection', () => {
  it('sends SETTINGS and the connection window before anything came', () => {
    const session = createH2Session();
    const [first, second] = session.frames();
    expect(first?.payload.toString('hex')).toBe('000300000400' + '000600004000' + '000400040000');
    expect(second?.payload.readUInt32BE(0)).toBe(1_048_576 - 65_535);
    expect(session.connection.takeOutput()).toBeUndefined();
  });

  it('names only what differs from the initial values', () => {
    const session = createH2Session({
      streamWindowBytes: 65_535,
      connectionWindowBytes: 1,
      headerTableBytes: 0,
    });
    const frames = session.frames();
    expect(frames).toHaveLength(1);
    expect(frames[0]?.payload.toString('hex')).toBe(
      '000300000400' + '000600004000' + '000100000000',
    );
  });

  it('takes a call that comes with the preface in one segment', () => {
    const session = createH2Session();
    session.frames();
    session.send(hello(), windowUpdate(0, 25_100_289), request(1, 0), data(1, 'abc', END_STREAM));
    expect(session.events).toEqual([`request#1 ${GOT_ROOT}`, 'data#1 abc end']);
    expect(session.replies()).toEqual(['settings ack']);
    expect(session.connection.prefaceReceived).toBe(true);
    expect(session.connection.settingsAcked).toBe(false);
    session.send(settingsAck());
    expect(session.connection.settingsAcked).toBe(true);
  });

  it.each([
    ['another protocol', Buffer.from('GET / HTTP/1.1\r\n')],
    ['a wrong last octet', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\rX')],
    ['another frame than SETTINGS', Buffer.concat([PREFACE, ping()])],
    ['an ACK instead of SETTINGS', Buffer.concat([PREFACE, settingsAck()])],
  ])('refuses %s', (_name, bytes) => {
    const session = createH2Session();
    session.frames();
    session.send(bytes);
    expect(session.replies()).toEqual(['goAway 1 last 0']);
    expect(session.connection.wantsClose).toBe(true);
    expect(session.connection.prefaceReceived).toBe(false);
    session.send(hello(), request(1));
    expect(session.replies()).toEqual([]);
  });

  it('takes its octets one by one', () => {
    const session = createH2Session();
    session.frames();
    const bytes = Buffer.concat([hello(), request(1, 0), data(1, 'x'.repeat(300), END_STREAM)]);
    for (const octet of bytes) session.send(Buffer.from([octet]));
    expect(session.events).toEqual([`request#1 ${GOT_ROOT}`, `data#1 ${'x'.repeat(300)} end`]);
  });
});

describe('requests', () => {
  it('puts HEADERS and CONTINUATION together, with padding and priority', () => {
    const session = openH2Session();
    const block = Buffer.concat([POST_ROOT, field('x', 'y')]);
    session.send(
      frame(
        Type.headers,
        PADDED | PRIORITY | END_STREAM,
        1,
        Buffer.concat([
          Buffer.from([3]),
          uint32(0x80000003),
          Buffer.from([9]),
          block.subarray(0, 5),
          Buffer.alloc(3),
        ]),
      ),
      frame(Type.continuation, 0, 1, block.subarray(5, 6)),
      frame(Type.continuation, 0, 1),
      frame(Type.continuation, END_HEADERS, 1, block.subarray(6)),
    );
    expect(session.events).toEqual([`request#1 ${GOT_ROOT} x=y end`]);
  });

  it('gives the body without its padding, and trailers', () => {
    const session = openH2Session();
    session.send(
      request(1, 0),
      data(1, Buffer.concat([Buffer.from([4]), Buffer.from('body'), Buffer.alloc(4)]), PADDED),
      frame(Type.headers, END_HEADERS | END_STREAM, 1, field('grpc-status', '0')),
    );
    expect(session.events.slice(1)).toEqual(['data#1 body', 'trailers#1 grpc-status']);
    expect(session.connection.requestCount).toBe(1);
  });

  it('takes a body that is content-length long, also in pieces and before trailers', () => {
    const session = openH2Session();
    const length = field('content-length', '4');
    session.send(request(1, 0, length), data(1, 'ab'), data(1, 'cd', END_STREAM));
    session.send(request(3, 0, length), data(3, 'abcd'), frame(Type.headers, 5, 3));
    session.send(request(5, END_STREAM, field('content-length', '0')));
    expect(session.events.slice(1)).toEqual([
      'data#1 ab',
      'data#1 cd end',
      `request#3 ${GOT_ROOT} content-length=4`,
      'data#3 abcd',
      'trailers#3 ',
      `request#5 ${GOT_ROOT} content-length=0 end`,
    ]);
  });

  const TOO_LONG = field('content-length', '3');

  it.each([
    ['a fault in its header list', [request(1, 0, field('Upper', 'x'))], 'rst#1 1', []],
    [
      'a dependency on itself',
      [
        frame(
          1,
          END_HEADERS | PRIORITY,
          1,
          Buffer.concat([uint32(1), Buffer.from([0]), POST_ROOT]),
        ),
      ],
      'rst#1 1',
      [],
    ],
    [
      'no body where content-length promises one',
      [request(1, END_STREAM, TOO_LONG)],
      'rst#1 1',
      [],
    ],
    [
      'a body above content-length',
      [request(1, 0, TOO_LONG), data(1, 'abcd')],
      'rst#1 1',
      ['reset#1 1'],
    ],
    [
      'a body below content-length',
      [request(1, 0, TOO_LONG), data(1, 'ab', END_STREAM)],
      'rst#1 1',
      ['reset#1 1'],
    ],
    [
      'a body below content-length before trailers',
      [request(1, 0, TOO_LONG), frame(1, 5, 1)],
      'rst#1 1',
      ['reset#1 1'],
    ],
    [
      'trailers that do not end it',
      [request(1, 0), frame(1, END_HEADERS, 1)],
      'rst#1 1',
      ['reset#1 1'],
    ],
    [
      'trailers with a pseudo field',
      [request(1, 0), frame(1, 5, 1, '84')],
      'rst#1 1',
      ['reset#1 1'],
    ],
    [
      'trailers that depend on it',
      [request(1, 0), frame(1, 5 | PRIORITY, 1, '0000000100')],
      'rst#1 1',
      ['reset#1 1'],
    ],
    ['DATA behind its end', [request(1), data(1, 'x')], 'rst#1 5', ['reset#1 5']],
    ['HEADERS behind its end', [request(1), request(1)], 'rst#1 5', ['reset#1 5']],
    ['a WINDOW_UPDATE of 0', [request(1), windowUpdate(1, 0)], 'rst#1 1', ['reset#1 1']],
    ['a window above 2^31-1', [request(1), windowUpdate(1, 0x7fffffff)], 'rst#1 3', ['reset#1 3']],
    [
      'a PRIORITY that depends on itself',
      [request(1), frame(2, 0, 1, '0000000100')],
      'rst#1 1',
      ['reset#1 1'],
    ],
    [
      'a PRIORITY of a wrong length',
      [request(1), frame(2, 0, 1, '00000000')],
      'rst#1 6',
      ['reset#1 6'],
    ],
  ])('resets a stream for %s, and goes on', (_name, frames, reply, events) => {
    const session = openH2Session();
    session.send(...frames, request(3));
    expect(session.replies().filter((seen) => !seen.startsWith('window'))).toEqual([reply]);
    expect(session.events.filter((seen) => seen.startsWith('reset'))).toEqual(events);
    expect(session.events.at(-1)).toBe(`request#3 ${GOT_ROOT} end`);
    expect(session.connection.failure).toBeUndefined();
  });

  it.each([
    ['DATA on stream 0', [data(0, 'x')], 1],
    ['DATA on an idle stream', [data(1, 'x')], 1],
    ['DATA on a server stream', [request(5), data(2, 'x')], 1],
    ['HEADERS on stream 0', [request(0)], 1],
    ['HEADERS on a server stream', [request(2)], 1],
    ['a lower new stream', [request(5), request(3)], 1],
    ['padding longer than DATA', [request(1, 0), data(1, Buffer.from([3, 0, 0]), PADDED)], 1],
    ['padding longer than HEADERS', [frame(1, END_HEADERS | PADDED, 1, '0282')], 1],
    ['padded DATA without a length', [request(1, 0), data(1, '', PADDED)], 6],
    ['HEADERS too short for priority', [frame(1, END_HEADERS | PRIORITY, 1, '00000000')], 6],
    ['a header block that cannot be decoded', [frame(1, END_HEADERS, 1, '80')], 9],
    ['trailers that cannot be decoded', [request(1, 0), frame(1, 5, 1, 'ff')], 9],
    ['CONTINUATION without HEADERS', [frame(9, END_HEADERS, 1, '82')], 1],
    ['CONTINUATION of another stream', [frame(1, 0, 1, '82'), frame(9, END_HEADERS, 3, '82')], 1],
    ['a PING inside a header block', [frame(1, 0, 1, '82'), ping()], 1],
    ['an unknown frame inside a header block', [frame(1, 0, 1, '82'), frame(99, 0, 1)], 1],
    ['PUSH_PROMISE', [frame(5, END_HEADERS, 1, '00000002')], 1],
    ['PRIORITY on stream 0', [frame(2, 0, 0, '0000000300')], 1],
    ['PRIORITY of a wrong length on an idle stream', [frame(2, 0, 1, '00')], 6],
    [
      'PRIORITY that depends on itself on a server stream',
      [request(3), frame(2, 0, 2, '0000000200')],
      1,
    ],
    ['RST_STREAM on stream 0', [rst(0)], 1],
    ['RST_STREAM on an idle stream', [rst(1)], 1],
    ['RST_STREAM of a wrong length', [request(1), frame(3, 0, 1, '0000')], 6],
    ['SETTINGS on a stream', [frame(4, 0, 1)], 1],
    ['SETTINGS of a wrong length', [frame(4, 0, 0, '00')], 6],
    ['a SETTINGS ACK with octets', [frame(4, ACK, 0, '000000000000')], 6],
    ['ENABLE_PUSH of 2', [settings([2, 2])], 1],
    ['ENABLE_CONNECT_PROTOCOL of 2', [settings([8, 2])], 1],
    ['INITIAL_WINDOW_SIZE above 2^31-1', [settings([4, 0x80000000])], 3],
    ['MAX_FRAME_SIZE below 2^14', [settings([5, 16_383])], 1],
    ['MAX_FRAME_SIZE above 2^24-1', [settings([5, 16_777_216])], 1],
    [
      'INITIAL_WINDOW_SIZE that overflows a stream',
      [request(1), windowUpdate(1, 1000), settings([4, 0x7fffffff])],
      3,
    ],
    ['PING on a stream', [frame(6, 0, 1, '0000000000000000')], 1],
    ['PING of a wrong length', [ping('00')], 6],
    ['GOAWAY on a stream', [frame(7, 0, 1, '0000000000000000')], 1],
    ['GOAWAY that is too short', [frame(7, 0, 0, '00')], 6],
    ['WINDOW_UPDATE of a wrong length', [frame(8, 0, 0, '00')], 6],
    ['WINDOW_UPDATE of 0 on the connection', [windowUpdate(0, 0)], 1],
    ['WINDOW_UPDATE on an idle stream', [windowUpdate(1, 1)], 1],
    ['a connection window above 2^31-1', [windowUpdate(0, 0x7fffffff)], 3],
    ['a frame above the largest size', [frame(0, 0, 1, Buffer.alloc(16_385))], 6],
  ])('ends the connection for %s', (_name, frames, code) => {
    const session = openH2Session();
    session.send(...frames);
    const replies = session.replies();
    expect(replies).toHaveLength(1);
    expect(replies[0]).toMatch(new RegExp(`^goAway ${String(code)} last`));
    expect(session.connection.wantsClose).toBe(true);
    expect(session.connection.failure).toMatchObject({ errorCode: code, budget: undefined });
    expect(session.connection.openStreams).toBe(0);
  });

  it('takes the largest frame', () => {
    const session = openH2Session();
    session.send(request(1, 0), data(1, 'x'.repeat(16_384), END_STREAM));
    expect(session.events.at(-1)).toHaveLength('data#1  end'.length + 16_384);
  });

  it('tells the owner of every open stream when the connection ends', () => {
    const session = openH2Session();
    session.send(request(1), request(3, 0), ping('00'));
    expect(session.events.slice(2)).toEqual(['reset#1 6', 'reset#3 6']);
    expect(session.replies()).toEqual(['goAway 6 last 3']);
    const stream = session.stream(1);
    session.connection.sendHeaders(stream, Buffer.from([0x88]), true);
    session.connection.ping(1);
    session.connection.startDrain('');
    session.connection.finishDrain();
    session.connection.goAway(0, '');
    expect(session.replies()).toEqual([]);
  });
});

describe('frames on streams that are over', () => {
  const answered = () => {
    const session = openH2Session();
    session.send(request(1));
    session.connection.sendHeaders(session.stream(1), Buffer.from([0x88]), true);
    session.frames();
    return session;
  };

  it.each([
    ['DATA', data(1, 'x')],
    ['HEADERS', request(1)],
  ])('ends the connection for %s on a stream that both sides ended', (_name, late) => {
    const session = answered();
    session.send(late);
    expect(session.replies()).toEqual(['goAway 5 last 1']);
  });

  it.each([
    ['RST_STREAM', rst(1)],
    ['WINDOW_UPDATE', windowUpdate(1, 5)],
    ['PRIORITY', frame(2, 0, 1, '0000000300')],
  ])('ignores %s on a stream that both sides ended', (_name, late) => {
    const session = answered();
    session.send(late);
    expect(session.replies()).toEqual([]);
    expect(session.events).toHaveLength(1);
  });

  it.each([
    ['DATA', data(1, 'x')],
    ['HEADERS', request(1)],
  ])('resets a stream that the peer reset, for %s; once', (_name, late) => {
    const session = openH2Session();
    session.send(request(1, 0), rst(1), late);
    expect(session.events.at(-1)).toBe('reset#1 8');
    expect(session.replies()).toEqual(['rst#1 5']);
    session.send(late);
    expect(session.replies()).toEqual([]);
  });

  it('ignores what was under way to a stream that we reset, but decodes and counts it', () => {
    const session = openH2Session();
    session.send(request(1, 0));
    session.connection.reset(session.stream(1), 8);
    expect(session.replies()).toEqual(['rst#1 8']);
    session.send(
      data(1, 'x'.repeat(16_000)),
      frame(1, 5, 1, field('kept-in', 'the-table', 0x40)),
      request(3, END_STREAM, Buffer.from([0xbe])),
    );
    expect(session.replies()).toEqual([]);
    expect(session.events.at(-1)).toContain('kept-in=the-table');
    for (let i = 0; i < 32; i++) session.send(data(1, 'x'.repeat(16_384)));
    expect(session.replies()).toEqual(['windowUpdate#0 540288']);
  });

  it('takes RST_STREAM, WINDOW_UPDATE and PRIORITY on streams that were skipped', () => {
    const session = openH2Session();
    session.send(request(9), rst(3), windowUpdate(3, 1), frame(2, 0, 3, '0000000100'));
    expect(session.replies()).toEqual([]);
    session.send(data(3, ''));
    expect(session.replies()).toEqual(['goAway 1 last 9']);
  });

  it('resets a stream of which it has forgotten how it went', () => {
    const session = openH2Session({
      onComplete: ({ connection }, stream) => {
        connection.sendHeaders(stream, Buffer.from([0x88]), true);
      },
    });
    for (let id = 1; id < 6000; id += 2) session.send(request(id));
    session.frames();
    session.send(data(1, 'x'));
    expect(session.replies()).toEqual(['rst#1 5']);
    session.send(data(5997, 'x'));
    expect(session.replies()).toEqual(['goAway 5 last 5999']);
  });
});

describe('control frames', () => {
  it('answers PING with its octets', () => {
    const session = openH2Session();
    session.send(ping('00112233445566ff'));
    expect(session.replies()).toEqual(['ping ack 00112233445566ff']);
  });

  it('tells the owner of the answer to its own PING, and ignores others', () => {
    const session = openH2Session();
    session.connection.ping(0xfedcba98);
    const sent = session.frames()[0]?.payload.toString('hex') ?? '';
    session.send(ping(sent, ACK), ping('0000000000000000', ACK));
    expect(session.events).toEqual(['ping ack 4275878552']);
    expect(session.replies()).toEqual([]);
  });

  it('ignores unknown frames, unknown settings, flags that mean nothing and a second ACK', () => {
    const session = openH2Session();
    session.send(
      frame(0xfa, 0xff, 7, 'abcdef'),
      settings([0xfe, 1], [3, 0], [6, 16_384], [5, 4_194_304]),
      settingsAck(),
    );
    session.send(frame(6, 0xfe, 0, '0000000000000000'));
    expect(session.replies()).toEqual(['settings ack', 'ping ack 0000000000000000']);
  });

  it('notes that the peer leaves, and goes on with what is open', () => {
    const session = openH2Session();
    session.send(request(1, 0), frame(7, 0, 0, '0000000000000000'), data(1, 'x', END_STREAM));
    expect(session.connection.peerLeaving).toBe(true);
    expect(session.events.at(-1)).toBe('data#1 x end');
  });

  it('says with its next block that it uses no header table once the peer shrinks it', () => {
    const session = openH2Session({
      onComplete: ({ connection }, stream) => {
        connection.sendUnary(
          stream,
          { headers: Buffer.from([0x88]), trailers: Buffer.from([0x89]) },
          Buffer.from('abc'),
          COPY,
        );
      },
    });
    session.send(
      settings([1, 4096]),
      request(1),
      settings([1, 100]),
      settings([1, 0]),
      request(3),
      settings([1, 0]),
      request(5),
    );
    const blocks = session.frames().filter(({ type }) => type === Type.headers);
    expect(blocks.map(({ payload }) => payload.toString('hex'))).toEqual([
      '88',
      '89',
      '2088',
      '89',
      '88',
      '89',
    ]);
  });
});

describe('the limit of streams at once', () => {
  it('binds the peer only after its ACK', () => {
    const session = createH2Session({ maxConcurrentStreams: 2 });
    session.send(hello(), request(1), request(3), request(5));
    session.frames();
    expect(session.connection.openStreams).toBe(3);
    session.send(settingsAck(), request(7));
    expect(session.replies()).toEqual(['rst#7 7']);
    session.send(rst(1), rst(3), request(9), request(11));
    expect(session.replies()).toEqual(['rst#11 7']);
    expect(session.events.at(-1)).toMatch(/^request#9 /);
  });

  it('does not lose a header table entry of a refused stream', () => {
    const session = openH2Session({ maxConcurrentStreams: 1 });
    session.send(
      request(1),
      request(3, END_STREAM, field('x', 'kept', 0x40)),
      rst(1),
      request(5, END_STREAM, Buffer.from([0xbe])),
    );
    expect(session.events.at(-1)).toContain('x=kept');
  });
});

describe('the end of a connection', () => {
  it('drains: asks for no more, takes what is under way, names the last, closes behind it', () => {
    const session = openH2Session();
    session.send(request(1));
    session.connection.startDrain('max_age');
    session.connection.startDrain('again');
    const [goAway, drainPing] = session.frames();
    expect(goAway?.payload.toString('latin1')).toBe('\x7f\xff\xff\xff\0\0\0\0max_age');
    session.send(request(3));
    session.send(ping(drainPing?.payload.toString('hex') ?? '', ACK));
    expect(session.replies()).toEqual(['goAway 0 last 3']);
    expect(session.connection).toMatchObject({
      draining: true,
      wantsClose: false,
      failure: undefined,
    });
    session.send(request(5, 0), data(5, 'x', END_STREAM), request(7));
    expect(session.events.filter((seen) => seen.startsWith('request'))).toHaveLength(2);
    session.connection.sendHeaders(session.stream(1), Buffer.from([0x88]), true);
    expect(session.connection.wantsClose).toBe(false);
    session.send(rst(3));
    expect(session.connection.wantsClose).toBe(true);
    expect(session.replies()).toEqual(['headers#1 end']);
  });

  it("drains without the peer's answer when the owner says so, once", () => {
    const session = openH2Session();
    session.connection.startDrain('');
    const drainPing = session.frames()[1]?.payload.toString('hex') ?? '';
    session.connection.finishDrain();
    session.connection.finishDrain();
    expect(session.replies()).toEqual(['goAway 0 last 0']);
    expect(session.connection.wantsClose).toBe(true);
    session.send(ping(drainPing, ACK));
    expect(session.replies()).toEqual([]);
  });

  it('says goodbye at once with goAway', () => {
    const session = openH2Session();
    session.send(request(1));
    session.connection.goAway(0, 'bye');
    expect(session.events.at(-1)).toBe('reset#1 8');
    expect(session.replies()).toEqual(['goAway 0 last 1']);
    expect(session.connection).toMatchObject({ wantsClose: true, failure: undefined });
  });

  it('tells the owner of open streams when the socket is gone, and is silent then', () => {
    const session = openH2Session();
    session.send(request(1));
    session.connection.connectionLost();
    session.connection.connectionLost();
    session.send(request(3));
    session.connection.tick(1e9);
    expect(session.events.slice(1)).toEqual(['reset#1 8']);
    expect(session.replies()).toEqual([]);
  });

  it('ends with INTERNAL_ERROR when an event of the owner throws, even when it throws again', () => {
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

  it('survives an owner that throws in tick', () => {
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
