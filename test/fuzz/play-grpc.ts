import { inflate } from '../../src/transport/grpc/wire/connections';
import type { GrpcConnection, GrpcMethod } from '../../src/wire/grpc/api';
import { createRejectionBlocks } from '../../src/wire/grpc/responses';
import { createGrpcConnection } from '../../src/wire/grpc/connection';
import type { MessageEncoder } from '../../src/wire/http2/api';
import { grpcStatus } from '../../src/wire/grpc/status';
import { createRequestDecoder, isMalformed } from '../../src/wire/ratelimit/decode-request';
import { roomForResponse, writeResponse } from '../../src/wire/ratelimit/encode-response';
import type { WireResponse } from '../../src/wire/ratelimit/messages';
import { stops } from './play-http2';
import type { Random } from './random';
import { MESSAGE_BOUNDS, UNBOUNDED } from '../support/bounds';

const PREFIX_BYTES = 5;
const METHODS = [
  ['/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit', 'one'],
  ['/grpc.health.v1.Health/Check', 'one'],
  ['/grpc.health.v1.Health/Watch', 'one'],
  ['/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', 'many'],
] as const;
const ENCODER: MessageEncoder<WireResponse> = {
  maxBytes: (response) => PREFIX_BYTES + roomForResponse(response),
  write: writeFramed,
};
const RESPONSE: WireResponse = {
  overallCode: 'OVER_LIMIT',
  statuses: [
    {
      code: 'OVER_LIMIT',
      currentLimit: { requestsPerUnit: 5, unit: 'MINUTE', name: 'per user' },
      limitRemaining: 0,
      secondsUntilReset: 7,
    },
  ],
  responseHeaders: [],
  dynamicMetadata: undefined,
};
const INTERNAL = grpcStatus(13, 'the test says so');
const rejectionBlock = createRejectionBlocks();

/** What the owner does with one of its calls when so many octets have come. */
export interface CallAction {
  readonly at: number;
  readonly what: (typeof WHAT)[number];
  readonly which: number;
}
const WHAT = [
  'answer',
  'answer',
  'answer',
  'fail',
  'finish',
  'send',
  'send much',
  'wait',
  'take',
] as const;

export function planCalls(random: Random, length: number): CallAction[] {
  const actions = Array.from({ length: random.below(12) }, () => ({
    at: random.below(length + 1),
    what: random.pick(WHAT),
    which: random.below(1_000),
  }));
  return actions.sort((one, other) => one.at - other.at);
}

export interface GrpcTranscript {
  readonly told: string;
  readonly output: Buffer;
  readonly failure: string;
  readonly messages: readonly Buffer[];
}

/** Plays octets into a gRPC connection whose owner decodes requests and ends calls at the given places. */
export function playGrpc(
  bytes: Buffer,
  cuts: readonly number[],
  actions: readonly CallAction[],
): GrpcTranscript {
  const told: string[] = [];
  const written: Buffer[] = [];
  const messages: Buffer[] = [];
  const decode = createRequestDecoder(UNBOUNDED);
  /** Tickets that we were told of and have not ended; whether the call still has a caller. */
  const open = new Map<number, 'live' | 'half-closed' | 'cancelled'>();
  let nowMs = 0;

  const hear = (callId: number, what: string) => {
    const state = open.get(callId);
    if (state === 'cancelled')
      throw new Error(`call id ${String(callId)} is cancelled, then ${what}`);
    if (what === 'message' && state === 'half-closed')
      throw new Error('a message after half-close');
    told.push(`${String(callId)} ${what}`);
  };
  const methodOf = (requests: GrpcMethod<undefined>['requests']): GrpcMethod<undefined> => ({
    requests,
    onMessage(_, callId, octets, start, end) {
      if (requests === 'one' && open.has(callId)) throw new Error('a unary call asks twice');
      hear(callId, 'message');
      open.set(callId, 'live');
      const decoded = decode(octets, start, end);
      told.push(isMalformed(decoded) ? decoded.reason : decoded.domain);
      messages.push(Buffer.from(octets.subarray(start, end)));
      told.push(messages.at(-1)?.toString('hex') ?? '');
    },
    onHalfClose(_, callId) {
      hear(callId, 'half-close');
      open.set(callId, 'half-closed');
    },
    onCancel(_, callId) {
      if (!open.has(callId)) throw new Error('a call is cancelled that was never told of');
      hear(callId, 'cancel');
      open.set(callId, 'cancelled');
    },
  });
  const grpc: GrpcConnection = createGrpcConnection({
    methods: new Map(METHODS.map(([path, requests]) => [path, methodOf(requests)])),
    client: undefined,
    inflate,
    bounds: MESSAGE_BOUNDS,
    rejectionBlock,
  });

  const take = () => {
    const piece = grpc.http2.takeOutput();
    if (piece !== undefined) written.push(Buffer.from(piece));
  };
  const end = (callId: number, how: (callId: number) => void) => {
    open.delete(callId);
    how(callId);
  };
  const act = ({ what, which }: CallAction): void => {
    if (what === 'take') take();
    else if (what === 'wait') {
      nowMs += which * 20;
      grpc.expire(nowMs);
      grpc.http2.tick(nowMs);
    } else {
      const callIds = [...open.keys()];
      const callId = callIds[which % callIds.length];
      if (callId !== undefined) actOn(callId, what);
    }
  };
  const actOn = (callId: number, what: 'answer' | 'fail' | 'finish' | 'send' | 'send much') => {
    if (what === 'send') grpc.send(callId, Buffer.from('a message'));
    else if (what === 'send much') grpc.send(callId, Buffer.alloc(150_000));
    else if (what === 'fail') {
      end(callId, () => {
        grpc.fail(callId, INTERNAL);
      });
    } else if (what === 'finish') end(callId, grpc.finish.bind(grpc));
    else end(callId, answer);
  };
  const answer = (callId: number) => {
    grpc.answer(callId, RESPONSE, ENCODER);
  };

  let done = 0;
  for (const { at, action } of stops(bytes.length, cuts, actions)) {
    const piece = Buffer.from(bytes.subarray(done, at));
    done = at;
    if (piece.length > 0) grpc.receive(piece, nowMs);
    piece.fill(0xaa);
    if (action !== undefined) act(action);
  }
  for (const callId of [...open.keys()].filter((each) => each % 2 === 0)) end(callId, answer);
  take();
  const { failure } = grpc.http2;
  if (failure?.cause !== undefined) throw failure.cause as Error;
  grpc.http2.connectionLost();
  for (const callId of [...open.keys()]) end(callId, grpc.finish.bind(grpc));
  if (grpc.openCalls !== 0) throw new Error(`${String(grpc.openCalls)} calls are left behind`);
  if (grpc.http2.openStreams !== 0) throw new Error('streams are left behind');
  return {
    told: told.join('\n'),
    output: Buffer.concat(written),
    failure: JSON.stringify(failure),
    messages,
  };
}

function writeFramed(response: WireResponse, out: Uint8Array, at: number): number {
  const end = writeResponse(response, out, at + PREFIX_BYTES);
  out[at] = 0;
  new DataView(out.buffer, out.byteOffset).setUint32(at + 1, end - at - PREFIX_BYTES);
  return end;
}
