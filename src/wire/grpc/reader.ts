import type { UnpackBounds } from '../unpacked-limit';
import type { GrpcMethod } from './api';
import {
  PREFIX_BYTES,
  buffer,
  createBody,
  dropFront,
  release,
  messageLength,
  prefixFault,
  type Body,
  type BufferBudget,
} from './body';
import type { Call } from './calls';
import { unpack, type Inflate } from './inflate';
import { StatusCode, grpcStatus, type GrpcStatus } from './status';

/** Cuts the bytes of requests into messages and emits them. */
export interface Reader<C> {
  /** Takes bytes of a request that is not one whole message in one piece. */
  take(
    call: Call<GrpcMethod<C>>,
    bytes: Uint8Array,
    start: number,
    end: number,
    endStream: boolean,
  ): void;
  complete(call: Call<GrpcMethod<C>>): void;
  /** Emits messages that waited for `mayEmit`. */
  readonly readOn: (call: Call<GrpcMethod<C>>) => void;
  /** Takes an uncompressed message, the only one of its request. */
  takeOnly(call: Call<GrpcMethod<C>>, bytes: Uint8Array, start: number, end: number): void;
}

interface ReaderDeps<C> {
  readonly inflate: Inflate;
  readonly bounds: UnpackBounds;
  readonly budget: BufferBudget;
  readonly client: C;
  readonly fail: (call: Call<GrpcMethod<C>>, status: GrpcStatus) => void;
  /** Called before each event of a call. */
  readonly beforeFirstEvent: (call: Call<GrpcMethod<C>>) => void;
  /** Whether a method with many requests gets the next one now; if not, `readOn` follows. */
  readonly mayEmit: (call: Call<GrpcMethod<C>>) => boolean;
}

// gRPC's table of status codes calls a wrong number of requests UNIMPLEMENTED.
const TOO_MANY = grpcStatus(StatusCode.unimplemented, 'more than one message for a unary call');
const NO_MESSAGE = grpcStatus(StatusCode.unimplemented, 'no message for a unary call');
const CUT_OFF = grpcStatus(StatusCode.internal, 'the request ended within a message');

export function createReader<C>(deps: ReaderDeps<C>): Reader<C> {
  const { inflate, bounds, budget, client, fail, beforeFirstEvent, mayEmit } = deps;

  const emit = (call: Call<GrpcMethod<C>>, bytes: Uint8Array, start: number, end: number) => {
    beforeFirstEvent(call);
    call.plan.method.onMessage(client, call.id, bytes, start, end);
  };

  const emitHalfClose = (call: Call<GrpcMethod<C>>) => {
    beforeFirstEvent(call);
    call.plan.method.onHalfClose(client, call.id);
  };

  /** Emits the message at the front, unpacked if it is compressed. */
  const emitFront = (
    call: Call<GrpcMethod<C>>,
    bytes: Uint8Array,
    from: number,
    length: number,
  ) => {
    const start = from + PREFIX_BYTES;
    if (bytes[from] === 0) {
      emit(call, bytes, start, from + length);
      return;
    }
    const { isGzip } = call.plan;
    const plain = unpack(inflate, isGzip, bytes.subarray(start, from + length), bounds);
    if (plain instanceof Uint8Array) emit(call, plain, 0, plain.length);
    else fail(call, plain);
  };

  const completeOne = (call: Call<GrpcMethod<C>>, body: Body) => {
    if (body.length === 0) fail(call, NO_MESSAGE);
    else if (body.length < wholeLength(body)) fail(call, CUT_OFF);
    else emitFront(call, body.bytes, body.from, body.length);
    release(body, budget);
  };

  const completeMany = (call: Call<GrpcMethod<C>>, body: Body) => {
    if (body.length > 0) fail(call, CUT_OFF);
    else emitHalfClose(call);
  };

  /** Emits the complete messages at the front while the call goes on and its responses leave; then the end. */
  const emitMany = (call: Call<GrpcMethod<C>>, body: Body) => {
    while (body.length >= wholeLength(body)) {
      if (!mayEmit(call)) return;
      const { bytes, from } = body;
      const length = wholeLength(body);
      dropFront(body, length);
      emitFront(call, bytes, from, length);
      if (call.phase === 'over') return;
      const fault = prefixFault(body, bounds.maxBytes);
      if (fault !== undefined) {
        fail(call, fault);
        return;
      }
    }
    if (body.length === 0) release(body, budget);
    if (call.ended) completeMany(call, body);
  };

  const complete = (call: Call<GrpcMethod<C>>) => {
    const body = (call.body ??= createBody());
    call.ended = true;
    if (call.plan.method.requests === 'one') completeOne(call, body);
    else emitMany(call, body);
  };

  const take: Reader<C>['take'] = (call, bytes, start, end, endStream) => {
    const body = (call.body ??= createBody());
    const isOne = call.plan.method.requests === 'one';
    const fault = buffer(body, budget, bytes, start, end) ?? prefixFault(body, bounds.maxBytes);
    if (fault !== undefined) fail(call, fault);
    else if (isOne && body.length > wholeLength(body)) fail(call, TOO_MANY);
    else if (endStream) complete(call);
    else if (!isOne) emitMany(call, body);
  };

  return {
    take,
    complete,
    readOn(call) {
      if (call.body !== undefined) emitMany(call, call.body);
    },
    takeOnly(call, bytes, start, end) {
      if (call.plan.method.requests === 'one') emit(call, bytes, start, end);
      else take(call, bytes, start - PREFIX_BYTES, end, true);
    },
  };
}

/** The length of the message at the front of a body with its prefix; Infinity if the prefix is incomplete. */
function wholeLength(body: Body): number {
  return body.length < PREFIX_BYTES
    ? Infinity
    : PREFIX_BYTES + messageLength(body.bytes, body.from);
}
