import type { GrpcConnection, GrpcMethod, CreateCallContext } from '../../../../src/wire/grpc/api';
import { createRejectionBlocks } from '../../../../src/wire/grpc/responses';
import { createGrpcConnection } from '../../../../src/wire/grpc/connection';
import type { UnpackBounds } from '../../../../src/wire/unpacked-limit';
import type { Inflate } from '../../../../src/wire/grpc/inflate';
import { createHpackDecoder, decodeBlock } from '../../../../src/wire/http2/hpack/decoder';
import { encodeStatelessBlock } from '../../../../src/wire/http2/hpack/encoder';
import { MESSAGE_BOUNDS } from '../../../support/bounds';

export const UNARY = '/test.Service/Unary';
export const STREAM = '/test.Service/Stream';

export interface Told {
  readonly what: 'message' | 'half-close' | 'cancel';
  readonly callId: number;
  readonly text?: string;
}

/** What the server sent on one stream. */
export interface Heard {
  readonly headers: string[];
  body: Buffer;
  ended: boolean;
  resetCode: number | undefined;
}

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const SETTINGS_ACK = 1;

export function frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(9);
  header.writeUIntBE(payload.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(stream, 5);
  return Buffer.concat([header, payload]);
}

/** A gRPC message with its prefix. */
export function message(text: string | Uint8Array, flag = 0): Buffer {
  const content = Buffer.from(text as string);
  const prefix = Buffer.alloc(5);
  prefix[0] = flag;
  prefix.writeUInt32BE(content.length, 1);
  return Buffer.concat([prefix, content]);
}

/** A caller in front of a connection: sends frames, reads what comes back. */
export function createGrpcCaller({
  inflate = () => undefined,
  window = 2 ** 24,
  createCallContext,
  bounds = MESSAGE_BOUNDS,
}: {
  inflate?: Inflate;
  window?: number;
  createCallContext?: CreateCallContext<undefined>;
  bounds?: UnpackBounds;
} = {}) {
  const told: Told[] = [];
  const decoder = createHpackDecoder(65_536, false);
  const heard = new Map<number, Heard>();
  let onTold: (event: Told) => void = () => undefined;
  let rest: Buffer = Buffer.alloc(0);
  let nowMs = 1000;
  let lastStream = -1;
  let refusesCalls = false;

  const tell = (event: Told) => {
    told.push(event);
    onTold(event);
  };
  const methodOf = (requests: GrpcMethod<undefined>['requests'], name: string) => ({
    requests,
    name,
    onMessage(_: undefined, callId: number, bytes: Uint8Array, start: number, end: number) {
      tell({ what: 'message', callId, text: Buffer.from(bytes.subarray(start, end)).toString() });
    },
    onHalfClose(_: undefined, callId: number) {
      tell({ what: 'half-close', callId });
    },
    onCancel(_: undefined, callId: number) {
      tell({ what: 'cancel', callId });
    },
  });
  const grpc: GrpcConnection = createGrpcConnection({
    methods: new Map([
      [UNARY, methodOf('one', 'unary')],
      [STREAM, methodOf('many', 'stream')],
    ]),
    client: undefined,
    inflate,
    bounds,
    rejectionBlock: createRejectionBlocks(),
    createCallContext,
  });

  const on = (stream: number): Heard => {
    const known = heard.get(stream);
    if (known !== undefined) return known;
    const fresh = { headers: [], body: Buffer.alloc(0), ended: false, resetCode: undefined };
    heard.set(stream, fresh);
    return fresh;
  };

  const hear = (type: number, flags: number, stream: number, payload: Buffer) => {
    if (type > 3 || stream === 0) return;
    const one = on(stream);
    if (type === 1) {
      const list = decodeBlock(decoder, payload, 0, payload.length);
      list?.names.forEach((name, index) => {
        one.headers.push(`${name}: ${String(list.values[index])}`);
      });
    }
    if (type === 0) one.body = Buffer.concat([one.body, payload]);
    if (type === 3) one.resetCode = payload.readUInt32BE(0);
    else if ((flags & 1) === 1) one.ended = true;
  };

  const read = () => {
    for (;;) {
      const piece = grpc.http2.takeOutput();
      if (piece === undefined) break;
      rest = Buffer.concat([rest, piece]);
      grpc.http2.releaseOutput(piece);
    }
    while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
      const end = 9 + rest.readUIntBE(0, 3);
      hear(rest[3] as number, rest[4] as number, rest.readUInt32BE(5), rest.subarray(9, end));
      rest = rest.subarray(end);
    }
  };

  const send = (...frames: Uint8Array[]) => {
    grpc.receive(Buffer.concat(frames), nowMs, refusesCalls);
    read();
  };

  const settings = Buffer.alloc(6);
  settings.writeUInt16BE(4, 0);
  settings.writeUInt32BE(window, 2);
  const more = Buffer.alloc(4);
  more.writeUInt32BE(2 ** 24);
  send(
    Buffer.from(PREFACE),
    frame(4, 0, 0, settings),
    frame(8, 0, 0, more),
    frame(4, SETTINGS_ACK, 0, Buffer.alloc(0)),
  );

  return {
    grpc,
    told,
    send,
    read,
    on,
    onTold: (listener: (event: Told) => void) => {
      onTold = listener;
    },
    refuseCalls: (refuse: boolean) => {
      refusesCalls = refuse;
    },
    passTo: (atMs: number) => {
      nowMs = atMs;
      grpc.expire(nowMs);
      read();
    },
    /** Opens a stream with these headers beside the usual ones; undefined leaves one out. */
    open(
      path: string,
      extra: Readonly<Record<string, string | undefined>> = {},
      endStream = false,
    ): number {
      lastStream += 2;
      const fields: Record<string, string | undefined> = {
        ':method': 'POST',
        ':scheme': 'http',
        ':path': path,
        ':authority': 'test',
        'content-type': 'application/grpc',
        te: 'trailers',
        ...extra,
      };
      const list = Object.entries(fields).filter(
        (field): field is [string, string] => field[1] !== undefined,
      );
      send(frame(1, endStream ? 5 : 4, lastStream, encodeStatelessBlock(list)));
      return lastStream;
    },
    /** Sends DATA, each frame by itself, so that windows open again; frames hold at most `size` octets. */
    data(stream: number, bytes: Uint8Array, endStream = true, size = 16_384) {
      let at = 0;
      do {
        const end = Math.min(bytes.length, at + size);
        const isLast = end === bytes.length;
        send(frame(0, isLast && endStream ? 1 : 0, stream, bytes.subarray(at, end)));
        at = end;
      } while (at < bytes.length);
    },
    trailers(stream: number) {
      send(frame(1, 5, stream, encodeStatelessBlock([['x-end', '1']])));
    },
    reset(stream: number, code = 8) {
      const payload = Buffer.alloc(4);
      payload.writeUInt32BE(code);
      send(frame(3, 0, stream, payload));
    },
  };
}
