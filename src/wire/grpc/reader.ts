import type { UnpackBounds } from '../unpacked-limit';
import type { GrpcEvents } from './api';
import {
  PREFIX_BYTES,
  createBody,
  dropFront,
  hold,
  letGo,
  messageLength,
  prefixFault,
  type Body,
  type HeldBudget,
} from './body';
import type { GrpcMethod } from './call-plan';
import type { Call } from './calls';
import { unpack, type Inflate } from './inflate';
import { StatusCode, grpcStatus, type GrpcStatus } from './status';

/** Cuts the octets of requests into messages and hands them on. */
export interface Reader<M> {
  /** Octets of a request that is not one whole message in one piece. */
  take(call: Call<M>, bytes: Uint8Array, start: number, end: number, endStream: boolean): void;
  /** The request is complete. */
  complete(call: Call<M>): void;
  /** A plain message, the only one of its request. */
  handOnly(call: Call<M>, bytes: Uint8Array, start: number, end: number): void;
}

interface ReaderDeps<M> {
  readonly inflate: Inflate;
  readonly bounds: UnpackBounds;
  readonly budget: HeldBudget;
  readonly events: GrpcEvents<M>;
  readonly fail: (call: Call<M>, status: GrpcStatus) => void;
  /** Called before the first event of a call. */
  readonly onSeen: (call: Call<M>) => void;
}

// gRPC's table of status codes calls a wrong number of requests UNIMPLEMENTED.
const TOO_MANY = grpcStatus(StatusCode.unimplemented, 'more than one message for a unary call');
const NO_MESSAGE = grpcStatus(StatusCode.unimplemented, 'no message for a unary call');
const CUT_OFF = grpcStatus(StatusCode.internal, 'the request ended within a message');

export function createReader<M extends GrpcMethod>(deps: ReaderDeps<M>): Reader<M> {
  const { inflate, bounds, budget, events, fail, onSeen } = deps;

  const tell = (call: Call<M>, bytes: Uint8Array, start: number, end: number) => {
    onSeen(call);
    events.onMessage(call.ticket, call.plan.method, bytes, start, end);
  };

  const tellHalfClose = (call: Call<M>) => {
    onSeen(call);
    events.onHalfClose(call.ticket, call.plan.method);
  };

  /** Hands on the message at the front, which ends at `end`, unpacked where it has to be. */
  const handOnFront = (call: Call<M>, { bytes }: Body, end: number) => {
    if (bytes[0] === 0) {
      tell(call, bytes, PREFIX_BYTES, end);
      return;
    }
    const { isGzip } = call.plan;
    const plain = unpack(inflate, isGzip, bytes.subarray(PREFIX_BYTES, end), bounds);
    if (plain instanceof Uint8Array) tell(call, plain, 0, plain.length);
    else fail(call, plain);
  };

  const completeOne = (call: Call<M>, body: Body) => {
    if (body.length === 0) fail(call, NO_MESSAGE);
    else if (body.length < wholeLength(body)) fail(call, CUT_OFF);
    else handOnFront(call, body, body.length);
    letGo(body, budget);
  };

  const completeMany = (call: Call<M>, body: Body) => {
    if (body.length > 0) fail(call, CUT_OFF);
    else tellHalfClose(call);
  };

  /** Hands on the complete messages at the front, as long as the call goes on. */
  const handOnMany = (call: Call<M>, body: Body) => {
    while (call.phase !== 'over' && body.length >= wholeLength(body)) {
      const length = wholeLength(body);
      handOnFront(call, body, length);
      dropFront(body, length);
      const fault = prefixFault(body, bounds.maxBytes);
      if (fault !== undefined) fail(call, fault);
    }
  };

  const complete = (call: Call<M>) => {
    const body = (call.body ??= createBody());
    if (call.plan.method.requests === 'one') completeOne(call, body);
    else completeMany(call, body);
  };

  return {
    take(call, bytes, start, end, endStream) {
      const body = (call.body ??= createBody());
      const { method } = call.plan;
      const fault = hold(body, budget, bytes, start, end) ?? prefixFault(body, bounds.maxBytes);
      if (fault !== undefined) fail(call, fault);
      else if (method.requests === 'many') handOnMany(call, body);
      else if (body.length > wholeLength(body)) fail(call, TOO_MANY);
      if (endStream && call.phase !== 'over') complete(call);
    },
    complete,
    handOnly(call, bytes, start, end) {
      tell(call, bytes, start, end);
      const { method } = call.plan;
      if (method.requests === 'many' && call.phase !== 'over') tellHalfClose(call);
    },
  };
}

/** Where the message at the front of a body ends; Infinity while that is not known. */
function wholeLength(body: Body): number {
  return body.length < PREFIX_BYTES ? Infinity : PREFIX_BYTES + messageLength(body.bytes, 0);
}
