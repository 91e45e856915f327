import type {
  HeaderList,
  Http2Connection,
  Http2Events,
  Http2Stream,
  MessageEncoder,
} from '../http2/api';
import { createHttp2Connection } from '../http2/connection';
import { ErrorCode } from '../http2/frames';
import { createHeaderReader } from '../http2/hpack/header-reader';
import type { CreateCallContext, GrpcConnection, GrpcDeps, GrpcMethod } from './api';
import { isOneMessage, MAX_BUFFERED_BYTES, PREFIX_BYTES, release, type BufferBudget } from './body';
import { createPlanner, READ_NAMES, type CallPlan } from './call-plan';
import { beforeFirstEvent, Calls, MAX_REQUEST_MS, type Call, PacedCalls } from './calls';
import {
  DeferredRejections,
  framedCopy,
  OK_TRAILERS,
  RESPONSE_HEADERS,
  trailersBlock,
  UNARY_BLOCKS,
} from './responses';
import { createReader, type Reader } from './reader';
import { grpcStatus, StatusCode, type GrpcStatus } from './status';

/** Bytes of one call's messages that may be queued for a client that does not read them. */
export const MAX_QUEUED_RESPONSE_BYTES = 262_144;

const { resourceExhausted, deadlineExceeded } = StatusCode;
const FULL = grpcStatus(resourceExhausted, 'the service holds too many bytes for its clients');
const EXPIRED = grpcStatus(deadlineExceeded, 'the deadline passed before there was an answer');

/** gRPC over a connection of our own engine. */
export function createGrpcConnection<C>(deps: GrpcDeps<C>): GrpcConnection {
  return new Connection(deps);
}

/** A class for the same reason as the HTTP/2 connection. */
class Connection<C> implements GrpcConnection, Http2Events {
  readonly http2: Http2Connection;
  readonly #client: C;
  readonly #rejectionBlock: (status: GrpcStatus) => Uint8Array;
  readonly #createCallContext: CreateCallContext<C> | undefined;
  readonly #planCall: (headers: HeaderList) => CallPlan<GrpcMethod<C>>;
  readonly #calls = new Calls<GrpcMethod<C>>();
  readonly #maxMessageBytes: number;
  readonly #maxBufferedBytes: number;
  readonly #budget: BufferBudget;
  readonly #reader: Reader<C>;
  readonly #rejections: DeferredRejections;
  readonly #paced: PacedCalls<GrpcMethod<C>>;
  #nowMs = 0;
  #refusesCalls = false;

  constructor(deps: GrpcDeps<C>) {
    const { bounds, client, headerReader = createHeaderReader(READ_NAMES) } = deps;
    this.#client = client;
    this.#maxMessageBytes = bounds.maxBytes;
    this.#maxBufferedBytes = Math.max(MAX_BUFFERED_BYTES, 2 * bounds.maxBytes);
    this.#budget = { leftBytes: this.#maxBufferedBytes };
    this.#rejectionBlock = deps.rejectionBlock;
    this.#createCallContext = deps.createCallContext;
    this.#planCall = createPlanner(deps.methods);
    this.#reader = createReader({
      inflate: deps.inflate,
      bounds,
      budget: this.#budget,
      client,
      fail: (call, status) => {
        this.#failCall(call, status);
      },
      beforeFirstEvent,
      mayEmit: (call) => this.#paced.mayEmit(call),
    });
    this.http2 = createHttp2Connection(this, { headerReader });
    this.#paced = new PacedCalls(this.http2);
    this.#rejections = new DeferredRejections((stream, block) => {
      this.http2.sendHeaders(stream, block, true);
    });
  }

  receive(bytes: Uint8Array, nowMs: number, refuseCalls = false): void {
    this.#nowMs = nowMs;
    this.#refusesCalls = refuseCalls;
    this.http2.receive(bytes, nowMs);
  }

  readOn(): void {
    this.#paced.resume(this.#reader.readOn);
  }

  get heldBytes(): number {
    const { pendingOutputBytes, queuedResponseBytes } = this.http2;
    return (
      pendingOutputBytes + queuedResponseBytes + this.#maxBufferedBytes - this.#budget.leftBytes
    );
  }

  onRequest(stream: Http2Stream, headers: HeaderList, endStream: boolean): void {
    const plan = this.#planCall(headers);
    const latestMs = this.#nowMs + MAX_REQUEST_MS;
    if (plan.block !== undefined) {
      if (plan.isNotGrpc && !endStream) this.#rejections.add(stream, plan.block, latestMs);
      else this.http2.sendHeaders(stream, plan.block, true);
      return;
    }
    if (this.#refusesCalls) {
      this.http2.sendHeaders(stream, this.#rejectionBlock(FULL), true);
      return;
    }
    const deadlineMs = Math.min(this.#nowMs + plan.timeoutMs, latestMs);
    const call = this.#calls.add(stream, plan, deadlineMs);
    stream.user = call;
    call.context = this.#createCallContext?.(plan.method, headers);
    if (plan.timeoutMs === 0) this.#failCall(call, EXPIRED);
    else if (endStream) this.#reader.complete(call);
  }

  onData(
    stream: Http2Stream,
    bytes: Uint8Array,
    start: number,
    end: number,
    endStream: boolean,
  ): void {
    const call = this.#callOf(stream);
    if (call === undefined && endStream) this.#rejections.complete(stream);
    if (call === undefined || call.phase === 'over') return;
    const isShort = end - start <= PREFIX_BYTES + this.#maxMessageBytes;
    if (endStream && isShort && call.body === undefined && isOneMessage(bytes, start, end)) {
      this.#reader.takeOnly(call, bytes, start + PREFIX_BYTES, end);
    } else this.#reader.take(call, bytes, start, end, endStream);
  }

  onTrailers(stream: Http2Stream): void {
    const call = this.#callOf(stream);
    if (call === undefined) this.#rejections.complete(stream);
    else if (call.phase !== 'over') this.#reader.complete(call);
  }

  onReset(stream: Http2Stream): void {
    const call = this.#callOf(stream);
    if (call === undefined) this.#rejections.forget(stream);
    else if (call.phase !== 'over') this.#cancel(call);
  }

  callContext(callId: number): unknown {
    return this.#calls.get(callId)?.context;
  }

  timeoutMs(callId: number): number {
    return this.#calls.get(callId)?.plan.timeoutMs ?? Infinity;
  }

  answer<R>(callId: number, message: R, encoder: MessageEncoder<R>): boolean {
    const call = this.#end(callId);
    if (call === undefined) return false;
    call.phase = 'over';
    this.http2.sendUnary(call.stream, UNARY_BLOCKS, message, encoder);
    return true;
  }

  send(callId: number, message: Uint8Array): void {
    const call = this.#calls.get(callId);
    if (call === undefined || call.phase === 'over') return;
    if (call.phase !== 'answering') {
      call.phase = 'answering';
      this.http2.sendHeaders(call.stream, RESPONSE_HEADERS, false);
    }
    this.http2.sendData(call.stream, framedCopy(message), false);
    if (call.plan.method.requests === 'many') this.#paced.add(call);
    if (this.http2.queuedBytes(call.stream) > MAX_QUEUED_RESPONSE_BYTES) {
      this.http2.reset(call.stream, ErrorCode.enhanceYourCalm);
      this.#cancel(call);
    }
  }

  finish(callId: number): void {
    const call = this.#end(callId);
    if (call === undefined) return;
    if (call.phase !== 'answering') this.http2.sendHeaders(call.stream, RESPONSE_HEADERS, false);
    this.#close(call);
    this.http2.sendHeaders(call.stream, OK_TRAILERS, true);
  }

  fail(callId: number, status: GrpcStatus): boolean {
    const call = this.#end(callId);
    if (call === undefined) return false;
    this.#sendStatus(call, status);
    return true;
  }

  expire(nowMs: number): void {
    for (const call of this.#calls.takeExpired(nowMs)) this.#failCall(call, EXPIRED);
    this.#rejections.expire(nowMs);
  }

  get nextDeadlineMs(): number {
    return Math.min(this.#calls.nextDeadlineMs, this.#rejections.nextDeadlineMs);
  }

  get openCalls(): number {
    return this.#calls.size;
  }

  /** The call of a stream, undefined if it was rejected; only `onRequest` sets `user`. */
  #callOf(stream: Http2Stream): Call<GrpcMethod<C>> | undefined {
    return stream.user as Call<GrpcMethod<C>> | undefined;
  }

  /** Frees the call id; returns the call if it can still be answered. */
  #end(callId: number): Call<GrpcMethod<C>> | undefined {
    const call = this.#calls.remove(callId);
    return call?.phase === 'over' ? undefined : call;
  }

  /** Releases the call's resources. Frees the id of a call without events, and then returns true. */
  #close(call: Call<GrpcMethod<C>>): boolean {
    const isUnseen = call.phase === 'reading';
    call.phase = 'over';
    if (call.body !== undefined) release(call.body, this.#budget);
    if (isUnseen) this.#calls.remove(call.id);
    if (this.#paced.size > 0) this.#paced.delete(call);
    return isUnseen;
  }

  #sendStatus(call: Call<GrpcMethod<C>>, status: GrpcStatus): boolean {
    const block = call.phase === 'answering' ? trailersBlock(status) : this.#rejectionBlock(status);
    const isUnseen = this.#close(call);
    this.http2.sendHeaders(call.stream, block, true);
    return isUnseen;
  }

  #cancel(call: Call<GrpcMethod<C>>): void {
    if (!this.#close(call)) call.plan.method.onCancel(this.#client, call.id);
  }

  /** Ends a call that its owner did not end. */
  #failCall(call: Call<GrpcMethod<C>>, status: GrpcStatus): void {
    const isUnseen = this.#sendStatus(call, status);
    if (!isUnseen) call.plan.method.onCancel(this.#client, call.id);
  }
}
