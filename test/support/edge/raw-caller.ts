import { connect, type Socket } from 'node:net';
import { encodeStatelessBlock } from '../../../src/wire/http2/hpack/encoder';
import { frame, message } from '../../unit/wire/grpc/grpc-caller';

export const SHOULD_RATE_LIMIT = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
export const WATCH = '/grpc.health.v1.Health/Watch';
export const FrameType = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  window: 8,
};

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

const NOTHING = Buffer.alloc(0);
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

/** A wide connection window, and a wide one for each stream. */
const WIDE = Buffer.concat([
  frame(4, 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff])),
  frame(8, 0, 0, Buffer.from([0x7f, 0, 0, 0])),
]);

/** Preface, SETTINGS and the acknowledgement of those that are to come. */
export const HELLO = Buffer.concat([PREFACE, WIDE, frame(4, 1, 0, NOTHING)]);
/** The same by a caller who never acknowledges. */
export const HELLO_WITHOUT_ACK = Buffer.concat([PREFACE, WIDE]);

export function call(stream: number, path: string, request: Uint8Array, isComplete = true): Buffer {
  const block = encodeStatelessBlock([
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', path],
    [':authority', 'test'],
    ['content-type', 'application/grpc'],
  ]);
  return Buffer.concat([
    frame(1, 4, stream, block),
    frame(0, isComplete ? 1 : 0, stream, message(request)),
  ]);
}

/** A caller that speaks in frames over a socket of its own. */
export function createRawCaller(port: number) {
  const frames: Frame[] = [];
  let rest: Buffer = NOTHING;
  let chunks = 0;
  let closed = false;
  let halfClosed = false;
  const socket: Socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('data', (bytes: Buffer) => {
    chunks += 1;
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      frames.push({
        type: rest[3] as number,
        flags: rest[4] as number,
        stream: rest.readUInt32BE(5),
        payload: rest.subarray(9, end),
      });
      rest = rest.subarray(end);
    }
  });
  socket.on('error', () => undefined);
  socket.on('end', () => {
    halfClosed = true;
  });
  socket.on('close', () => {
    closed = true;
  });
  return {
    socket,
    frames,
    of: (type: number) => frames.filter((each) => each.type === type),
    /** Streams whose answer is complete. */
    answered: () =>
      frames.filter(({ type, flags }) => type === FrameType.headers && (flags & 1) === 1).length,
    send: (...pieces: Uint8Array[]) => socket.write(Buffer.concat(pieces)),
    /** Answers a PING of the server. */
    answerPing: ({ payload }: Frame) => socket.write(frame(6, 1, 0, payload)),
    get chunks() {
      return chunks;
    },
    /** The server has closed its side, or the connection is gone. */
    get over() {
      return halfClosed || closed;
    },
  };
}
