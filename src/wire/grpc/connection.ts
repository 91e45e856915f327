import type { Http2Events, StandIn } from '../http2/api';
import { createHttp2Connection } from '../http2/connection';
import { ErrorCode } from '../http2/error-codes';
import type { GrpcConnection, GrpcEvents, NoteOf } from './api';
import { ANSWER_HEADERS, OK_TRAILERS, trailersBlock } from './blocks';
import { MAX_HELD_BYTES, PREFIX_BYTES, isOneMessage, letGo } from './body';
import { createPlanner, READ_NAMES, type GrpcMethod } from './call-plan';
import { createCalls, type Call } from './calls';
import { framedCopy } from './framed';
import type { Inflate } from './inflate';
import { createReader } from './reader';
import { createRefusals } from './refusals';
import { StatusCode, grpcStatus, type GrpcStatus } from './status';

export interface GrpcDeps<M extends GrpcMethod> {
  /** By path, `/package.Service/Method`. */
  readonly methods: ReadonlyMap<string, M>;
  readonly inflate: Inflate;
  /** `createRefusalBlocks()`, one for all connections. */
  readonly refusalBlock: (status: GrpcStatus) => Uint8Array;
  readonly events: GrpcEvents<M>;
  /** Undefined: nobody wants the headers. */
  readonly noteOf?: NoteOf<M> | undefined;
  /** The regular header fields that are kept, from `readNamesWith`; by default those that gRPC itself reads. */
  readonly readNames?: ReadonlySet<string> | undefined;
  readonly standIn?: StandIn | undefined;
}

/** A request may take so long to arrive, whatever its `grpc-timeout` (slow bodies). */
export const MAX_REQUEST_MS = 60_000;
/** Octets of one call's messages that wait for a caller who does not read them. */
export const MAX_QUEUED_ANSWER_BYTES = 262_144;

const EXPIRED = grpcStatus(
  StatusCode.deadlineExceeded,
  'the deadline passed before there was an answer',
);

/** gRPC over a connection of our own engine. */
export function createGrpcConnection<M extends GrpcMethod>(deps: GrpcDeps<M>): GrpcConnection {
  const { methods, inflate, refusalBlock, events, noteOf, readNames = READ_NAMES, standIn } = deps;
  const calls = createCalls<M>();
  const planCall = createPlanner(methods);
  const budget = { leftBytes: MAX_HELD_BYTES };
  let nowMs = 0;

  /** From here on the call gets nothing more. A call that the owner never saw gives its ticket back. */
  const close = (call: Call<M>) => {
    const isUnseen = call.phase === 'reading';
    call.phase = 'over';
    if (call.body !== undefined) letGo(call.body, budget);
    if (isUnseen) calls.remove(call.ticket);
    return isUnseen;
  };

  const refuse = (call: Call<M>, status: GrpcStatus) => {
    const hasBegun = call.phase === 'answering';
    close(call);
    const block = hasBegun ? trailersBlock(status) : refusalBlock(status);
    http2.sendHeaders(call.stream, block, true);
  };

  const cancel = (call: Call<M>) => {
    if (!close(call)) events.onCancel(call.ticket, call.plan.method);
  };

  /** A call that ends by itself, not by its owner. */
  const fail = (call: Call<M>, status: GrpcStatus) => {
    const wasSeen = call.phase !== 'reading';
    refuse(call, status);
    if (wasSeen) events.onCancel(call.ticket, call.plan.method);
  };

  const onSeen = (call: Call<M>) => {
    if (call.phase !== 'reading') return;
    call.phase = 'asked';
    const { timeoutMs } = call.plan;
    // Until now the deadline was not later than the request's own.
    if (timeoutMs > MAX_REQUEST_MS) call.deadlineMs += timeoutMs - MAX_REQUEST_MS;
  };

  const http2Events: Http2Events<Call<M>> = {
    onRequest(stream, headers, endStream) {
      const plan = planCall(headers);
      if (plan.block !== undefined) {
        if (plan.isForeign && !endStream) refusals.add(stream, plan.block, nowMs + MAX_REQUEST_MS);
        else http2.sendHeaders(stream, plan.block, true);
        return;
      }
      const call = calls.add(stream, plan, nowMs + Math.min(plan.timeoutMs, MAX_REQUEST_MS));
      stream.user = call;
      if (noteOf !== undefined) call.note = noteOf(plan.method, headers);
      if (plan.timeoutMs === 0) fail(call, EXPIRED);
      else if (endStream) reader.complete(call);
    },
    onData(stream, bytes, start, end, endStream) {
      const call = stream.user;
      if (call === undefined && endStream) refusals.complete(stream);
      if (call === undefined || call.phase === 'over') return;
      if (endStream && call.body === undefined && isOneMessage(bytes, start, end)) {
        reader.handOnly(call, bytes, start + PREFIX_BYTES, end);
      } else reader.take(call, bytes, start, end, endStream);
    },
    onTrailers(stream) {
      const call = stream.user;
      if (call === undefined) refusals.complete(stream);
      else if (call.phase !== 'over') reader.complete(call);
    },
    onReset(stream) {
      const call = stream.user;
      if (call === undefined) refusals.forget(stream);
      else if (call.phase !== 'over') cancel(call);
    },
  };
  const http2 = createHttp2Connection(http2Events, { readNames, standIn });
  const refusals = createRefusals<Call<M>>((stream, block) => {
    http2.sendHeaders(stream, block, true);
  });
  const reader = createReader({ inflate, budget, events, fail, onSeen });

  /** Takes the ticket back; answers the call when there is still somebody to tell. */
  const end = (ticket: number): Call<M> | undefined => {
    const call = calls.remove(ticket);
    return call?.phase === 'over' ? undefined : call;
  };

  return {
    http2,
    receive(bytes, atMs) {
      nowMs = atMs;
      http2.receive(bytes, atMs);
    },
    note: (ticket) => calls.get(ticket)?.note,
    answer(ticket, message, maxBytes, write) {
      const call = end(ticket);
      if (call === undefined) return;
      call.phase = 'over';
      http2.sendUnaryMessage(call.stream, ANSWER_HEADERS, message, maxBytes, write, OK_TRAILERS);
    },
    send(ticket, message) {
      const call = calls.get(ticket);
      if (call === undefined || call.phase === 'over') return;
      if (call.phase !== 'answering') {
        call.phase = 'answering';
        http2.sendHeaders(call.stream, ANSWER_HEADERS, false);
      }
      http2.sendData(call.stream, framedCopy(message), false);
      if (http2.queuedBytes(call.stream) > MAX_QUEUED_ANSWER_BYTES) {
        http2.reset(call.stream, ErrorCode.enhanceYourCalm);
        cancel(call);
      }
    },
    finish(ticket) {
      const call = end(ticket);
      if (call === undefined) return;
      if (call.phase !== 'answering') http2.sendHeaders(call.stream, ANSWER_HEADERS, false);
      close(call);
      http2.sendHeaders(call.stream, OK_TRAILERS, true);
    },
    fail(ticket, status) {
      const call = end(ticket);
      if (call !== undefined) refuse(call, status);
    },
    expire(atMs) {
      for (const call of calls.takeExpired(atMs)) fail(call, EXPIRED);
      refusals.expire(atMs);
    },
    get nextDeadlineMs() {
      return Math.min(calls.nextDeadlineMs, refusals.nextDeadlineMs);
    },
    get openCalls() {
      return calls.size;
    },
  };
}
