import type { GrpcConnection, GrpcMethod } from '../../src/wire/grpc/api';
import { createRejectionBlocks, framed } from '../../src/wire/grpc/responses';
import { createGrpcConnection } from '../../src/wire/grpc/connection';
import {
  CLIENT_PREFACE,
  Flag,
  frameKind,
  FrameType,
  putFrameHeader,
} from '../../src/wire/http2/frames';
import { createRequestDecoder, isMalformed } from '../../src/wire/ratelimit/decode-request';
import { roomForResponse, writeResponse } from '../../src/wire/ratelimit/encode-response';
import type { WireResponse } from '../../src/wire/ratelimit/messages';
import { createHeaderWriter, createVariedValues } from './generator-headers';
import { rateLimitMessage } from './request';
import { DEFAULT_BOUNDS } from '../../src/transport/bounds';
import { MESSAGE_BOUNDS } from '../support/bounds';

const HEADERS = frameKind(FrameType.headers, Flag.endHeaders);
const DATA = frameKind(FrameType.data, Flag.endStream);

export const RESPONSE: WireResponse = {
  overallCode: 'OK',
  statuses: [
    {
      code: 'OK',
      currentLimit: { requestsPerUnit: 1_000_000, unit: 'DAY', name: '' },
      limitRemaining: 999_993,
      secondsUntilReset: 86_000,
    },
  ],
  responseHeaders: [],
  dynamicMetadata: undefined,
};

/** The octets of one socket read after the other: `calls` calls each, ids and header table going on. */
export function createSession(
  varied: boolean,
  keys: number,
  sampledEvery = 1,
): (calls: number) => Uint8Array {
  const writeHeaders = createHeaderWriter(varied ? createVariedValues(sampledEvery) : undefined);
  const messages = Array.from({ length: keys }, (_, i) =>
    rateLimitMessage('user', `user-${String(i)}`),
  );
  let id = 1;
  let next = 0;
  return (calls) => {
    const bytes = new Uint8Array(calls * 640);
    let at = 0;
    for (let i = 0; i < calls; i++) {
      const message = messages[next++ % keys] as Uint8Array;
      const blockEnd = writeHeaders(bytes, at + 9);
      putFrameHeader(bytes, at, blockEnd - at - 9, HEADERS, id);
      putFrameHeader(bytes, blockEnd, message.length, DATA, id);
      bytes.set(message, blockEnd + 9);
      at = blockEnd + 9 + message.length;
      id += 2;
    }
    return bytes.slice(0, at);
  };
}

/** A connection behind its handshake that answers every call at once with RESPONSE. */
export function createAnsweringConnection(): GrpcConnection {
  const decode = createRequestDecoder(DEFAULT_BOUNDS);
  const room = roomForResponse(RESPONSE);
  const encoder = framed<WireResponse>({ maxBytes: () => room, write: writeResponse });
  const method: GrpcMethod<undefined> = {
    requests: 'one',
    onMessage(_, callId, bytes, start, end) {
      if (isMalformed(decode(bytes, start, end))) throw new Error('the bench is wrong');
      connection.answer(callId, RESPONSE, encoder);
    },
    onHalfClose: () => undefined,
    onCancel: () => undefined,
  };
  const connection: GrpcConnection = createGrpcConnection({
    methods: new Map([['/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit', method]]),
    client: undefined,
    inflate: () => new Uint8Array(0),
    bounds: MESSAGE_BOUNDS,
    rejectionBlock: createRejectionBlocks(),
  });
  const settings = Uint8Array.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0]);
  const window = Uint8Array.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x7f, 0, 0, 0]);
  connection.receive(Buffer.concat([CLIENT_PREFACE, settings, window]), 0);
  return connection;
}
