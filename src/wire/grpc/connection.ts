import type {
  HeaderList,
  Http2Connection,
  Http2Events,
  Http2Stream,
  MessageWriter,
} from '../http2/api';
import type { UnpackBounds } from '../unpacked-limit';
import { createHttp2Connection } from '../http2/connection';
import { ErrorCode } from '../http2/error-codes';
import { createHeaderReader, type HeaderReader } from '../http2/hpack/header-reader';
import type { GrpcConnection, GrpcEvents, NoteOf } from './api';
import { ANSWER_HEADERS, OK_TRAILERS, trailersBlock } from './blocks';
import { MAX_HELD_BYTES, PREFIX_BYTES, isOneMessage, letGo, type HeldBudget } from './body';
import { createPlanner, READ_NAMES, type CallPlan, type GrpcMethod } from './call-plan';
import { Calls, type Call } from './calls';
import { framedCopy } from './framed';
import type { Inflate } from './inflate';
import { createReader, type Reader } from './reader';
import { Refusals } from './refusals';
import { StatusCode, grpcStatus, type GrpcStatus } from './status';

export interface GrpcDeps<M extends GrpcMethod> {
  /** By path, `/package.Service/Method`. */
  readonly methods: ReadonlyMap<string, M>;
  readonly inflate: Inflate;
  /** MAX_GRPC_MESSAGE_BYTES and MAX_UNPACK_RATIO. */
  readonly bounds: UnpackBounds;
  /** `createRefusalBlocks()`, one for all connections. */
  readonly refusalBlock: (status: GrpcStatus) => Uint8Array;
  readonly events: GrpcEvents<M>;
  /** Undefined: nobody wants the headers. */
  readonly noteOf?: NoteOf<M> | undefined;
  /** One for all connections with these methods, of `readNamesWith`; by default one of its own. */
  readonly headerReader?: HeaderReader | undefined;
}

/** A request may take so long to arrive, whatever its `grpc-timeout` (slow bodies). */
export const MAX_REQUEST_MS = 60_000;
/** Octets of one call's messages that wait for a caller who does not read them. */
export const MAX_QUEUED_ANSWER_BYTES = 262_144;

/** Bytes of output from which on no message of a method with many requests is handed on; gRPC-Go's write quota. */
export const MAX_PENDING_ANSWER_BYTES = 65_536;

const FULL = grpcStatus(
  StatusCode.resourceExhausted,
  'the service holds too many bytes for its clients',
);
const EXPIRED = grpcStatus(
  StatusCode.deadlineExceeded,
  'the deadline passed before there was an answer',
);

/** gRPC over a connection of our own engine. */
export function createGrpcConnection<M extends GrpcMethod>(deps: GrpcDeps<M>): GrpcConnection {
  return new Connection(deps);
}

/** A class for the same reason as that of the connection below it. */
class Connection<M extends GrpcMethod> implements GrpcConnection, Http2Events<Call<M>> {
  readonly http2: Http2Connection<Call<M>>;
  readonly #events: GrpcEvents<M>;
  readonly #refusalBlock: (status: GrpcStatus) => Uint8Array;
  readonly #noteOf: NoteOf<M> | undefined;
  readonly #planCall: (headers: HeaderList) => CallPlan<M>;
  readonly #calls = new Calls<M>();
  readonly #maxMessageBytes: number;
  readonly #maxHeldBytes: number;
  readonly #budget: HeldBudget;
  readonly #reader: Reader<M>;
  readonly #refusals: Refusals<Call<M>>;
  /** Calls with many requests whose next message waits until their answers have left. */
  readonly #waiting = new Set<Call<M>>();
  #nowMs = 0;
  #refusesCalls = false;

  constructor(deps: GrpcDeps<M>) {
    const {
      methods,
      inflate,
      bounds,
      refusalBlock,
      events,
      noteOf,
      headerReader = createHeaderReader(READ_NAMES),
    } = deps;
    this.#events = events;
    this.#maxMessageBytes = bounds.maxBytes;
    this.#maxHeldBytes = Math.max(MAX_HELD_BYTES, 2 * bounds.maxBytes);
    this.#budget = { leftBytes: this.#maxHeldBytes };
    this.#refusalBlock = refusalBlock;
    this.#noteOf = noteOf;
    this.#planCall = createPlanner(methods);
    this.#reader = createReader({
      inflate,
      bounds,
      budget: this.#budget,
      events,
      fail: (call, status) => {
        this.#failCall(call, status);
      },
      onSeen,
      mayHandOn: (call) => this.#mayHandOn(call),
    });
    this.http2 = createHttp2Connection(this, { headerReader });
    this.#refusals = new Refusals((stream, block) => {
      this.http2.sendHeaders(stream, block, true);
    });
  }

  receive(bytes: Uint8Array, atMs: number, refuseCalls = false): void {
    this.#nowMs = atMs;
    this.#refusesCalls = refuseCalls;
    this.http2.receive(bytes, atMs);
  }

  readOn(): void {
    if (this.#waiting.size === 0) return;
    // A copy: a call that has its next answer waits again, for the next time.
    for (const call of [...this.#waiting]) {
      if (this.http2.pendingOutputBytes > MAX_PENDING_ANSWER_BYTES) return;
      if (this.http2.queuedBytes(call.stream) > 0) continue;
      this.#waiting.delete(call);
      this.#reader.readOn(call);
    }
  }

  get heldBytes(): number {
    const { pendingOutputBytes, queuedAnswerBytes } = this.http2;
    return pendingOutputBytes + queuedAnswerBytes + this.#maxHeldBytes - this.#budget.leftBytes;
  }

  onRequest(stream: Http2Stream<Call<M>>, headers: HeaderList, endStream: boolean): void {
    const plan = this.#planCall(headers);
    const latestMs = this.#nowMs + MAX_REQUEST_MS;
    if (plan.block !== undefined) {
      if (plan.isForeign && !endStream) this.#refusals.add(stream, plan.block, latestMs);
      else this.http2.sendHeaders(stream, plan.block, true);
      return;
    }
    if (this.#refusesCalls) {
      this.http2.sendHeaders(stream, this.#refusalBlock(FULL), true);
      return;
    }
    const deadlineMs = Math.min(this.#nowMs + plan.timeoutMs, latestMs);
    const call = this.#calls.add(stream, plan, deadlineMs);
    stream.user = call;
    const noteOf = this.#noteOf;
    if (noteOf !== undefined) call.note = noteOf(plan.method, headers);
    if (plan.timeoutMs === 0) this.#failCall(call, EXPIRED);
    else if (endStream) this.#reader.complete(call);
  }

  onData(
    stream: Http2Stream<Call<M>>,
    bytes: Uint8Array,
    start: number,
    end: number,
    endStream: boolean,
  ): void {
    const call = stream.user;
    if (call === undefined && endStream) this.#refusals.complete(stream);
    if (call === undefined || call.phase === 'over') return;
    const isShort = end - start <= PREFIX_BYTES + this.#maxMessageBytes;
    if (endStream && isShort && call.body === undefined && isOneMessage(bytes, start, end)) {
      this.#reader.handOnly(call, bytes, start + PREFIX_BYTES, end);
    } else this.#reader.take(call, bytes, start, end, endStream);
  }

  onTrailers(stream: Http2Stream<Call<M>>): void {
    const call = stream.user;
    if (call === undefined) this.#refusals.complete(stream);
    else if (call.phase !== 'over') this.#reader.complete(call);
  }

  onReset(stream: Http2Stream<Call<M>>): void {
    const call = stream.user;
    if (call === undefined) this.#refusals.forget(stream);
    else if (call.phase !== 'over') this.#cancel(call);
  }

  note(ticket: number): unknown {
    return this.#calls.get(ticket)?.note;
  }

  answer<R>(ticket: number, message: R, maxBytes: number, write: MessageWriter<R>): void {
    const call = this.#end(ticket);
    if (call === undefined) return;
    call.phase = 'over';
    const { http2 } = this;
    http2.sendUnaryMessage(call.stream, ANSWER_HEADERS, message, maxBytes, write, OK_TRAILERS);
  }

  send(ticket: number, message: Uint8Array): void {
    const call = this.#calls.get(ticket);
    if (call === undefined || call.phase === 'over') return;
    if (call.phase !== 'answering') {
      call.phase = 'answering';
      this.http2.sendHeaders(call.stream, ANSWER_HEADERS, false);
    }
    this.http2.sendData(call.stream, framedCopy(message), false);
    if (call.plan.method.requests === 'many') this.#waiting.add(call);
    if (this.http2.queuedBytes(call.stream) > MAX_QUEUED_ANSWER_BYTES) {
      this.http2.reset(call.stream, ErrorCode.enhanceYourCalm);
      this.#cancel(call);
    }
  }

  finish(ticket: number): void {
    const call = this.#end(ticket);
    if (call === undefined) return;
    if (call.phase !== 'answering') this.http2.sendHeaders(call.stream, ANSWER_HEADERS, false);
    this.#close(call);
    this.http2.sendHeaders(call.stream, OK_TRAILERS, true);
  }

  fail(ticket: number, status: GrpcStatus): void {
    const call = this.#end(ticket);
    if (call !== undefined) this.#refuse(call, status);
  }

  expire(atMs: number): void {
    for (const call of this.#calls.takeExpired(atMs)) this.#failCall(call, EXPIRED);
    this.#refusals.expire(atMs);
  }

  get nextDeadlineMs(): number {
    return Math.min(this.#calls.nextDeadlineMs, this.#refusals.nextDeadlineMs);
  }

  get openCalls(): number {
    return this.#calls.size;
  }

  /** Takes the ticket back; answers the call when there is still somebody to tell. */
  #end(ticket: number): Call<M> | undefined {
    const call = this.#calls.remove(ticket);
    return call?.phase === 'over' ? undefined : call;
  }

  /** From here on the call gets nothing more. A call that the owner never saw gives its ticket back. */
  #close(call: Call<M>): boolean {
    const isUnseen = call.phase === 'reading';
    call.phase = 'over';
    if (call.body !== undefined) letGo(call.body, this.#budget);
    if (isUnseen) this.#calls.remove(call.ticket);
    if (this.#waiting.size > 0) this.#waiting.delete(call);
    return isUnseen;
  }

  #mayHandOn(call: Call<M>): boolean {
    if (this.#waiting.has(call)) return false;
    if (this.http2.pendingOutputBytes <= MAX_PENDING_ANSWER_BYTES) return true;
    this.#waiting.add(call);
    return false;
  }

  #refuse(call: Call<M>, status: GrpcStatus): void {
    const hasBegun = call.phase === 'answering';
    this.#close(call);
    const block = hasBegun ? trailersBlock(status) : this.#refusalBlock(status);
    this.http2.sendHeaders(call.stream, block, true);
  }

  #cancel(call: Call<M>): void {
    if (!this.#close(call)) this.#events.onCancel(call.ticket, call.plan.method);
  }

  /** A call that ends by itself, not by its owner. */
  #failCall(call: Call<M>, status: GrpcStatus): void {
    const wasSeen = call.phase !== 'reading';
    this.#refuse(call, status);
    if (wasSeen) this.#events.onCancel(call.ticket, call.plan.method);
  }
}

/** The owner has it. Until now the deadline was not later than the request's own. */
function onSeen<M>(call: Call<M>): void {
  if (call.phase !== 'reading') return;
  call.phase = 'asked';
  const { timeoutMs } = call.plan;
  if (timeoutMs > MAX_REQUEST_MS) call.deadlineMs += timeoutMs - MAX_REQUEST_MS;
}
