import type {
  Http2Connection,
  Http2Options,
  Http2Stream,
  MessageEncoder,
} from '../../src/wire/http2/api';
import { createHttp2Connection } from '../../src/wire/http2/connection';
import { describeFrame, hello, parseFrames, settingsAck, type SeenFrame } from './h2-frames';

/** For messages that are bytes already. */
export const COPY: MessageEncoder<Uint8Array> = {
  maxBytes: (bytes) => bytes.length,
  write: (bytes, out, at) => {
    out.set(bytes, at);
    return at + bytes.length;
  },
};

export interface H2Session {
  readonly connection: Http2Connection;
  /** What the owner was told, a line each. */
  readonly events: string[];
  readonly streams: Map<number, Http2Stream>;
  /** The clock that `receive` and `tick` are given. */
  nowMs: number;
  /** Sends octets as the peer; the memory is overwritten afterwards, as a socket's buffer may be. */
  send(...pieces: Uint8Array[]): void;
  /** What the connection wrote since the last time. */
  frames(): SeenFrame[];
  /** The same in words. */
  replies(): string[];
  stream(id: number): Http2Stream;
}

export interface SessionOptions extends Partial<Http2Options> {
  /** What the owner does with a complete request. Default: nothing. */
  readonly onComplete?: (session: H2Session, stream: Http2Stream) => void;
}

/** A connection with an owner that writes down what it is told. */
export function createH2Session(options: SessionOptions = {}): H2Session {
  const { onComplete, ...http2Options } = options;
  const events: string[] = [];
  const streams = new Map<number, Http2Stream>();
  const complete = (stream: Http2Stream, end: boolean) => {
    if (end) onComplete?.(session, stream);
  };
  const connection: Http2Connection = createHttp2Connection(
    {
      onRequest: (stream, headers, end) => {
        streams.set(stream.id, stream);
        const list = headers.names.map((name, i) => `${name}=${headers.values[i] ?? ''}`);
        events.push(`request#${String(stream.id)} ${list.join(' ')}${end ? ' end' : ''}`);
        complete(stream, end);
      },
      onData: (stream, bytes, start, end, last) => {
        const text = Buffer.from(bytes.subarray(start, end)).toString('latin1');
        events.push(`data#${String(stream.id)} ${text}${last ? ' end' : ''}`);
        complete(stream, last);
      },
      onTrailers: (stream, headers) => {
        events.push(`trailers#${String(stream.id)} ${headers.names.join(' ')}`);
        complete(stream, true);
      },
      onReset: (stream, errorCode) => {
        events.push(`reset#${String(stream.id)} ${String(errorCode)}`);
      },
      onPingAck: (opaque) => {
        events.push(`ping ack ${String(opaque)}`);
      },
    },
    http2Options,
  );
  const session: H2Session = {
    connection,
    events,
    streams,
    nowMs: 1000,
    send: (...pieces) => {
      const bytes = Buffer.concat(pieces);
      connection.receive(bytes, session.nowMs);
      bytes.fill(0xaa);
    },
    frames: () => parseFrames(connection.takeOutput() ?? new Uint8Array(0)),
    replies: () => session.frames().map(describeFrame),
    stream: (id) => {
      const stream = streams.get(id);
      if (stream === undefined) throw new Error(`the owner never saw stream ${String(id)}`);
      return stream;
    },
  };
  return session;
}

/** The same after both prefaces and ACKs, with nothing left to read. */
export function openH2Session(options: SessionOptions = {}): H2Session {
  const session = createH2Session(options);
  session.send(hello(), settingsAck());
  session.frames();
  return session;
}
