import {
  createTokenBucket,
  MAX_BLOCK_BYTES,
  MAX_QUEUED_BYTES,
  RAPID_RESET_AGE_MS,
  RAPID_RESETS,
  RESETS,
  SLOW_FRAME_MS,
  tryTake,
  STALL_MS,
} from '../../../../src/wire/http2/budgets';
import {
  data,
  END_HEADERS,
  END_STREAM,
  field,
  frame,
  hello,
  PADDED,
  ping,
  POST_ROOT,
  PREFACE,
  request,
  rst,
  settings,
  settingsAck,
  Type,
  uint32,
  windowUpdate,
} from '../../../support/h2-frames';
import {
  createH2Session,
  openH2Session,
  type H2Session,
  type SessionOptions,
  COPY,
} from '../../../support/h2-session';

const CALM = 11;
const HEADERS = Buffer.from([0x88]);
const TRAILERS = Buffer.from([0x89]);

const answering: SessionOptions = {
  onComplete: ({ connection }, stream) => {
    connection.sendUnary(
      stream,
      { headers: HEADERS, trailers: TRAILERS },
      Buffer.from('hello'),
      COPY,
    );
  },
};

/** Sends `count` pieces, 1 KiB or so per read and each read's answers taken; returns how many went out. */
function flood(session: H2Session, count: number, piece: (index: number) => Uint8Array): number {
  const size = Math.max(1, Math.floor(1024 / piece(0).length));
  for (let sent = 0; sent < count; sent += size) {
    if (session.connection.wantsClose) return sent;
    session.send(...Array.from({ length: size }, (_, i) => piece(sent + i)));
    session.connection.takeOutput();
  }
  return count;
}

function expectCalm(session: H2Session, budget: string): void {
  expect(session.connection.failure).toMatchObject({ errorCode: CALM, budget });
  expect(session.connection).toMatchObject({
    wantsClose: true,
    openStreams: 0,
    queuedResponseBytes: 0,
  });
}

describe('an bucket', () => {
  const budget = { name: 'TEST', burst: 3, perSecond: 2, perResponse: 1 };

  it('lasts for its burst, and comes back with time and with answers, never above the burst', () => {
    const bucket = createTokenBucket(budget);
    const takeAll = (nowMs: number, answers: number) => {
      let count = 0;
      while (count < 100 && tryTake(bucket, nowMs, answers)) count++;
      return count;
    };
    expect(takeAll(0, 0)).toBe(3);
    expect(takeAll(499, 0)).toBe(0);
    expect(takeAll(1499, 0)).toBe(2);
    expect(takeAll(1499, 1)).toBe(1);
    expect(takeAll(1_000_000, 500)).toBe(3);
    expect(takeAll(0, 500)).toBe(0); // a clock that goes back earns nothing
  });

  it('takes several at once, or none of them, and keeps what was left', () => {
    const bucket = createTokenBucket(budget);
    expect(tryTake(bucket, 0, 0, 2)).toBe(true);
    expect(tryTake(bucket, 0, 0, 2)).toBe(false);
    expect(tryTake(bucket, 0, 1, 2)).toBe(true);
    expect(tryTake(bucket, 0, 1, 4)).toBe(false);
  });
});

describe('rapid reset (CVE-2023-44487)', () => {
  it('ends a connection that opens streams only to reset them', () => {
    const session = openH2Session();
    flood(session, 50_000, (i) => Buffer.concat([request(1 + 2 * i), rst(1 + 2 * i)]));
    expectCalm(session, 'RAPID_RESETS');
    expect(session.connection.requestCount).toBeLessThan(4200);
  });

  it('lets Envoy time out all of its 1,024 calls at once, over and over', () => {
    const session = openH2Session();
    const ids = (round: number) => Array.from({ length: 1024 }, (_, i) => round * 2048 + 2 * i + 1);
    for (let round = 0; round < 100; round++) {
      session.send(...ids(round).map((id) => request(id)));
      session.nowMs += 20;
      session.send(...ids(round).map((id) => rst(id, 2)));
      session.connection.takeOutput();
    }
    expect(session.connection.failure).toBeUndefined();
    expect(session.connection.requestCount).toBe(102_400);
    expect(session.replies()).toEqual([]);
  });

  it('lets Envoy do so while we are stalled and see it all at once', () => {
    const session = openH2Session();
    for (let i = 0; i < 3 * 1024; i++) session.send(request(2 * i + 1), rst(2 * i + 1, 2));
    expect(session.connection.failure).toBeUndefined();
  });

  it('lets resets cross our answers', () => {
    const session = openH2Session(answering);
    for (let i = 0; i < 3000; i++) session.send(request(2 * i + 1));
    for (let i = 0; i < 3000; i++) session.send(rst(2 * i + 1, 2));
    expect(session.connection.failure).toBeUndefined();
  });

  it('bounds by the streams at once who waits before resetting', () => {
    const session = openH2Session({ maxConcurrentStreams: 100 });
    for (let i = 0; i < 101; i++) session.send(request(2 * i + 1));
    expect(session.connection.openStreams).toBe(100);
    session.nowMs += RAPID_RESET_AGE_MS;
    for (let i = 0; i < 100; i++) session.send(rst(2 * i + 1));
    expect(session.connection.openStreams).toBe(0);
  });

  it('ends a connection that keeps its streams just long enough, over and over', () => {
    const session = openH2Session();
    let opened = 0;
    for (let round = 0; round < 300 && !session.connection.wantsClose; round++) {
      const ids = Array.from({ length: 1024 }, () => 2 * opened++ + 1);
      session.send(...ids.map((id) => request(id)));
      session.nowMs += RAPID_RESET_AGE_MS;
      session.send(...ids.map((id) => rst(id)));
      session.connection.takeOutput();
    }
    expectCalm(session, 'RESETS');
    // One burst, and what came back in half a second.
    expect(session.connection.requestCount).toBeLessThan(1.6 * RESETS.burst);
  });

  it.each([0, 20])(
    'lets all 4,096 calls of a peer that does not know our limit time out at once, %i ms old',
    (ageMs) => {
      const session = createH2Session();
      session.send(hello());
      const ids = Array.from({ length: 4096 }, (_, i) => 2 * i + 1);
      session.send(...ids.map((id) => request(id)));
      session.nowMs += ageMs;
      session.send(...ids.map((id) => rst(id, 2)), settingsAck(), request(8193));
      expect(session.connection).toMatchObject({ failure: undefined, openStreams: 1 });
    },
  );

  it('lets Envoy time out all of its 1,024 calls after 20 ms for as long as an outage lasts', () => {
    const resets = createTokenBucket(RESETS);
    for (let nowMs = 20; nowMs < 600_000; nowMs += 20)
      expect(tryTake(resets, nowMs, 0, 1024)).toBe(true);
    expect(RAPID_RESETS.burst).toBeGreaterThanOrEqual(4096);
  });
});

describe('made you reset (CVE-2025-8671)', () => {
  it.each<[string, (id: number) => Uint8Array[]]>([
    ['WINDOW_UPDATE of 0', (id) => [request(id), windowUpdate(id, 0)]],
    ['a window above its limit', (id) => [request(id), windowUpdate(id, 0x7fffffff)]],
    ['DATA behind the end', (id) => [request(id), data(id, 'x')]],
    ['HEADERS behind the end', (id) => [request(id), request(id)]],
    ['PRIORITY of a wrong length', (id) => [request(id), frame(Type.priority, 0, id, '00')]],
    [
      'a dependency on itself',
      (id) => [request(id), frame(Type.priority, 0, id, Buffer.concat([uint32(id), HEADERS]))],
    ],
    [
      'a body that is not content-length long',
      (id) => [request(id, 0, field('content-length', '1')), data(id, 'xy')],
    ],
    ['a malformed request', (id) => [request(id, END_STREAM, field('connection', 'close'))]],
    ['frames on a stream that it reset', (id) => [request(id), rst(id), data(id, 'x')]],
  ])('ends a connection that makes us reset streams by %s', (_name, attack) => {
    const session = openH2Session();
    flood(session, 50_000, (i) => Buffer.concat(attack(1 + 2 * i)));
    expectCalm(session, 'PROVOKED_RESETS');
    expect(session.connection.requestCount).toBeLessThan(300);
  });

  it('ends a connection that ignores the limit of streams at once', () => {
    const session = openH2Session({ maxConcurrentStreams: 10 });
    flood(session, 5000, (i) => request(1 + 2 * i));
    expectCalm(session, 'PROVOKED_RESETS');
    expect(session.connection.requestCount).toBe(10);
  });

  it('bounds the streams at once of a peer that never acknowledges our limit', () => {
    const session = createH2Session();
    session.send(hello());
    flood(session, 10_000, (i) => request(1 + 2 * i));
    expectCalm(session, 'PROVOKED_RESETS');
    expect(session.connection.requestCount).toBe(4096);
  });
});

describe('floods of frames', () => {
  it.each<[string, string, Uint8Array]>([
    ['PING (CVE-2019-9512)', 'PINGS', ping()],
    ['SETTINGS (CVE-2019-9515)', 'SETTINGS_FRAMES', settings()],
    ['SETTINGS that move all windows', 'SETTINGS_FRAMES', settings([4, 5], [4, 6])],
    ['SETTINGS ACK', 'IGNORED_FRAMES', settingsAck()],
    ['PING ACK', 'IGNORED_FRAMES', ping('0000000000000000', 1)],
    ['empty DATA (CVE-2019-9518)', 'EMPTY_FRAMES', data(1, '')],
    ['DATA that is all padding', 'EMPTY_FRAMES', data(1, Buffer.from([2, 0, 0]), PADDED)],
    ['PRIORITY (CVE-2019-9513)', 'IGNORED_FRAMES', frame(Type.priority, 0, 7, '0000000500')],
    ['unknown frames', 'IGNORED_FRAMES', frame(0xee, 0, 0)],
    ['GOAWAY', 'IGNORED_FRAMES', frame(Type.goAway, 0, 0, '0000000000000000')],
    ['WINDOW_UPDATE on the connection', 'WINDOW_UPDATES', windowUpdate(0, 1)],
    ['WINDOW_UPDATE on a stream (CVE-2019-9511)', 'WINDOW_UPDATES', windowUpdate(1, 1)],
  ])('end with %s', (_name, budget, piece) => {
    const session = openH2Session();
    session.send(request(1, 0));
    flood(session, 200_000, () => piece);
    expectCalm(session, budget);
    expect(session.connection.pendingOutputBytes).toBe(0);
  });

  it('end with SETTINGS that hold hundreds of entries', () => {
    const session = openH2Session();
    const entries = Array.from({ length: 320 }, () => [4, 65_535] as [number, number]);
    session.send(...Array.from({ length: 5 }, () => settings(...entries)));
    expect(session.connection.failure).toBeUndefined();
    session.send(settings(...entries));
    expectCalm(session, 'SETTINGS_FRAMES');
  });

  it('end with one SETTINGS frame that is full', () => {
    const session = openH2Session();
    session.send(settings(...Array.from({ length: 2730 }, () => [3, 100] as [number, number])));
    expectCalm(session, 'SETTINGS_FRAMES');
  });

  it('end with frames on streams that are over', () => {
    const session = openH2Session(answering);
    session.send(request(1));
    flood(session, 200_000, () => rst(1));
    expectCalm(session, 'IGNORED_FRAMES');
  });

  it('end with streams above the last one of a drain', () => {
    const session = openH2Session();
    session.connection.finishDrain();
    session.send(request(1, 0), data(1, 'x'));
    expect(session.connection).toMatchObject({ requestCount: 0, failure: undefined });
    for (let i = 1; i < 6000; i++) session.send(request(1 + 2 * i));
    expectCalm(session, 'IGNORED_FRAMES');
  });

  it('do not end a client that measures its bandwidth with every answer', () => {
    const session = openH2Session(answering);
    for (let i = 0; i < 50_000; i++) {
      session.send(windowUpdate(0, 5), ping(), request(2 * i + 1), windowUpdate(2 * i + 1, 5));
      session.connection.takeOutput();
    }
    expect(session.connection.failure).toBeUndefined();
  });

  it('stop a peer that sends and sends but does not read our replies', () => {
    const session = openH2Session();
    let most = 0;
    for (let i = 0; i < 200_000 && !session.connection.wantsClose; i++) {
      session.send(ping());
      most = Math.max(most, session.connection.pendingOutputBytes);
    }
    expectCalm(session, 'PINGS');
    expect(most).toBeLessThan(32_768);
  });

  it('stop one whose replies are all earned by work, too', () => {
    const session = openH2Session();
    for (let i = 0; i < 6000 && !session.connection.wantsClose; i++) {
      session.send(request(2 * i + 1, 0));
      const stream = session.stream(2 * i + 1);
      session.connection.sendHeaders(stream, HEADERS, true); // answered early: RST_STREAM goes with it
    }
    expectCalm(session, 'MAX_WAITING_REPLIES');
  });

  it('enforce the connection window of a peer that does not read the WINDOW_UPDATEs', () => {
    const session = openH2Session({ streamWindowBytes: 0x7fffffff });
    session.send(request(1, 0));
    for (let i = 0; i < 70; i++) session.send(data(1, Buffer.alloc(16_384)));
    expect(session.connection.failure).toMatchObject({ errorCode: 3 });
  });
});

describe('header blocks', () => {
  it.each([
    ['empty', 'MAX_BLOCK_FRAMES', Buffer.alloc(0)],
    ['small', 'MAX_BLOCK_FRAMES', Buffer.from([0x82])],
    ['large', 'MAX_BLOCK_BYTES', Buffer.alloc(16_384, 0x82)],
  ])('end at a flood of %s CONTINUATIONs (CVE-2024-27316)', (_name, budget, fragment) => {
    const session = openH2Session();
    session.send(frame(Type.headers, 0, 1, POST_ROOT));
    const sent = flood(session, 10_000, () => frame(Type.continuation, 0, 1, fragment));
    expectCalm(session, budget);
    expect(sent * fragment.length).toBeLessThanOrEqual(MAX_BLOCK_BYTES + 16_384);
  });

  it('end at an HPACK bomb (CVE-2016-6581), and reset a stream whose list is only too long', () => {
    const session = openH2Session();
    const large = Buffer.concat([
      Buffer.from([0x40]),
      Buffer.from('0178', 'hex'),
      Buffer.from('7fa11e', 'hex'),
      Buffer.alloc(4000, 'x'),
    ]);
    session.send(request(1, END_STREAM, large));
    expect(session.events.at(-1)).toMatch(/^request#1 /);
    session.send(request(3, END_STREAM, Buffer.alloc(5, 0xbe)), request(5));
    expect(session.replies()).toEqual(['rst#3 11']);
    session.send(
      request(7, 0),
      frame(Type.headers, END_HEADERS | END_STREAM, 7, Buffer.alloc(5, 0xbe)),
    );
    expect(session.replies()).toEqual(['rst#7 11']);
    expect(session.events.at(-1)).toBe('reset#7 11');
    session.send(request(9, END_STREAM, Buffer.alloc(16_000, 0xbe)));
    expectCalm(session, 'LIST_BYTES_FACTOR');
  });

  it.each<[string, () => H2Session]>([
    [
      'a header block',
      () => {
        const session = openH2Session();
        session.send(frame(Type.headers, 0, 1, POST_ROOT));
        return session;
      },
    ],
    [
      'a frame',
      () => {
        const session = openH2Session();
        session.send(request(1).subarray(0, 20));
        return session;
      },
    ],
    [
      'the preface',
      () => {
        const session = createH2Session();
        session.send(PREFACE.subarray(0, 10));
        return session;
      },
    ],
  ])('end when %s takes too long', (_name, begin) => {
    const session = begin();
    session.connection.tick(session.nowMs + SLOW_FRAME_MS - 1);
    expect(session.connection.failure).toBeUndefined();
    session.connection.tick(session.nowMs + SLOW_FRAME_MS);
    expectCalm(session, 'SLOW_FRAME_MS');
  });
});

describe('windows that stay shut', () => {
  it('resets an answer that the peer does not let out (zero-window stall)', () => {
    const session = createH2Session(answering);
    session.send(hello([4, 3]), request(1), request(3));
    session.frames();
    session.nowMs += STALL_MS - 1;
    session.send(windowUpdate(1, 1), windowUpdate(3, 10));
    session.connection.tick(session.nowMs);
    expect(session.events).toHaveLength(2);
    session.frames();
    session.connection.tick(session.nowMs + 1);
    expect(session.replies()).toEqual(['rst#1 8']);
    expect(session.events.at(-1)).toBe('reset#1 8');
    expect(session.connection.queuedResponseBytes).toBe(0);
  });

  it('does so for a shut connection window, and ends a connection that does it to many', () => {
    const session = openH2Session({
      onComplete: ({ connection }, stream) => {
        connection.sendData(stream, Buffer.alloc(1000), true);
      },
    });
    for (let i = 0; i < 1000; i++) session.send(request(2 * i + 1));
    session.frames();
    session.connection.tick(session.nowMs + STALL_MS);
    expectCalm(session, 'PROVOKED_RESETS');
  });

  it('ends a connection for which too much is queued, at the next octets or tick', () => {
    const piece = Buffer.alloc(MAX_QUEUED_BYTES / 4);
    for (const next of ['receive', 'tick'] as const) {
      const session = createH2Session();
      session.send(hello([4, 0]), request(1));
      for (let i = 0; i < 4; i++) session.connection.sendData(session.stream(1), piece, false);
      expect(session.connection.queuedResponseBytes).toBe(MAX_QUEUED_BYTES);
      session.connection.sendData(session.stream(1), piece, true);
      expect(session.connection.failure).toBeUndefined();
      if (next === 'tick') session.connection.tick(session.nowMs);
      else session.send(ping());
      expectCalm(session, 'MAX_QUEUED_BYTES');
      expect(session.events.at(-1)).toBe('reset#1 11');
    }
  });

  it('never ends an answer that it did not queue', () => {
    const session = createH2Session();
    session.send(hello([4, 0]), settingsAck(), request(1), request(3), request(5));
    const { connection } = session;
    connection.sendData(session.stream(1), Buffer.alloc(MAX_QUEUED_BYTES), false);
    session.frames();
    connection.sendUnary(
      session.stream(3),
      { headers: Buffer.from([0x88]), trailers: Buffer.from([0x88]) },
      Buffer.alloc(9),
      COPY,
    );
    connection.sendData(session.stream(5), Buffer.alloc(9), true);
    connection.sendHeaders(session.stream(5), Buffer.from([0x88]), true);
    expect(session.replies()).toEqual(['headers#3']);
    connection.tick(session.nowMs);
    expect(session.events.slice(-3)).toEqual(['reset#1 11', 'reset#3 11', 'reset#5 11']);
  });

  it('ends such a connection before the next frame, also of the same octets', () => {
    const session = createH2Session({
      onComplete: ({ connection }, stream) => {
        connection.sendData(stream, Buffer.alloc(MAX_QUEUED_BYTES), true);
      },
    });
    session.send(hello([4, 0]), request(1), request(3), request(5), windowUpdate(1, 9));
    expect(session.events.filter((event) => event.startsWith('request#5'))).toEqual([]);
    expectCalm(session, 'MAX_QUEUED_BYTES');
  });
});
