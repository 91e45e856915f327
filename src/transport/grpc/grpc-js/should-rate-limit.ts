import {
  type Metadata,
  type Server,
  type ServerUnaryCall,
  type sendUnaryData,
  ServerInterceptingCall,
  status,
  type ServerInterceptor,
} from '@grpc/grpc-js';
import type { Decision, DecisionRequest } from '../../../core/model';
import type { RequestBounds } from '../../../core/decision/request';
import type { Responder, PendingRequest } from '../../../core/ports';
import { createRequestDecoder, isMalformed } from '../../../wire/ratelimit/decode-request';
import { roomForResponse, writeResponse } from '../../../wire/ratelimit/encode-response';
import type { Malformed } from '../../../wire/protobuf/read';
import { systemClock } from '../../../platform/clock';
import type { GrpcTransportDeps } from '../options';
import { GRPC_CALL, isEarly, refuseMessage, SHOULD_RATE_LIMIT, toGrpcStatus } from '../service';
import type { Socket } from 'node:net';
import type { ByteBudget, ByteHolder } from '../../../platform/byte-budget';

interface DecisionDeps extends Pick<GrpcTransportDeps, 'statistics' | 'nowMs' | 'tracer'> {
  readonly bounds: RequestBounds;
  readonly ask: (pending: PendingRequest) => void;
  readonly heldBytes: Pick<HeldBytes, 'open'>;
}

interface Message {
  readonly request: DecisionRequest | Malformed;
  readonly bytes: number;
}
type DecisionCall = ServerUnaryCall<Message, Decision>;

interface Call {
  readonly startedMs: number;
  readonly held: ReturnType<HeldBytes['open']>;
  readonly reply: sendUnaryData<Decision>;
  readonly call: DecisionCall;
  /** It was cancelled before its deadline. */
  hasLeft: boolean;
}

const TOTAL_REQUESTS = 'ratelimit_server.ShouldRateLimit.total_requests';
const RESPONSE_TIME = 'ratelimit_server.ShouldRateLimit.response_time';

/** Registers ShouldRateLimit: one responder for the whole server, the call id is the number of the call. */
export function serveDecisions(
  server: Server,
  { bounds, ask, statistics, nowMs, tracer, heldBytes }: DecisionDeps,
): void {
  const calls = new Map<number, Call>();
  let lastCallId = 0;

  const responder: Responder = {
    hasLeft: (callId) => calls.get(callId)?.hasLeft === true,
    answer(callId, answer) {
      const { startedMs, held, reply, call } = calls.get(callId) as Call;
      calls.delete(callId);
      statistics.time(RESPONSE_TIME, nowMs() - startedMs, 1);
      if (call.cancelled) return false;
      if (answer.kind === 'failure') reply(toGrpcStatus(answer));
      else {
        held.add(roomForResponse(answer));
        reply(null, answer);
      }
      return true;
    },
  };

  server.register<Message, Decision>(
    SHOULD_RATE_LIMIT,
    (call: DecisionCall, reply: sendUnaryData<Decision>) => {
      const callId = ++lastCallId;
      const { request, bytes } = call.request;
      statistics.count(TOTAL_REQUESTS, 1);
      const held = heldBytes.open(call.getPeer());
      const startedMs = nowMs();
      const timeoutMs = Number(call.getDeadline()) - systemClock() * 1_000;
      const asked: Call = { startedMs, held, reply, call, hasLeft: false };
      calls.set(callId, asked);
      // Every end comes as this event: the answer was sent, a deadline has passed, the client hung up.
      call.once('cancelled', () => {
        held.release();
        asked.hasLeft = call.cancelled && isEarly(nowMs() - startedMs, timeoutMs);
      });
      held.add(bytes);
      const trace = tracer?.start(GRPC_CALL, headersOf(call.metadata));
      if (isMalformed(request)) {
        const refusal = refuseMessage(request, statistics);
        trace?.refused(refusal);
        responder.answer(callId, refusal);
      } else {
        ask({ request, responder, callId, trace });
      }
    },
    encode,
    createDecode(bounds),
    'unary',
  );
}

function createDecode(bounds: RequestBounds): (bytes: Buffer) => Message {
  const decode = createRequestDecoder(bounds);
  return (bytes) => ({ request: decode(bytes, 0, bytes.length), bytes: bytes.length });
}

function encode(decision: Decision): Buffer {
  const bytes = Buffer.allocUnsafe(roomForResponse(decision));
  return bytes.subarray(0, writeResponse(decision, bytes, 0));
}

function headersOf(metadata: Metadata) {
  const fields = Object.entries(metadata.getMap());
  return { names: fields.map(([name]) => name), values: fields.map(([, value]) => String(value)) };
}

/**
 * Memory of the messages in the library's calls: requests that wait for a decision, and answers until they are sent. The library
 * does not expose incomplete messages.
 */
export function createHeldBytes(budget: ByteBudget) {
  const peers = new Map<string, Peer>();
  /** Refuses new calls before their message is read while the budget is spent. */
  const refuseWhenSpent: ServerInterceptor = (_method, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        if (budget.isSpent) call.sendStatus(SPENT);
        else next();
      },
    });
  return {
    refuseWhenSpent,
    /** Called with each socket before the library gets it. */
    accept(socket: Socket) {
      const name = peerName(socket);
      const known = peers.get(name);
      const peer = known?.isEnded === false ? known : new Peer(budget);
      peers.set(name, peer);
      peer.sockets.add(socket);
      socket.once('close', () => {
        peer.sockets.delete(socket);
        if (peer.sockets.size === 0 && peers.get(name) === peer) peers.delete(name);
      });
    },
    /** The account of a new call of this peer (`call.getPeer()`). */
    open(name: string) {
      const peer = peers.get(name);
      let held = 0;
      return {
        add(bytes: number) {
          held += bytes;
          peer?.add(bytes);
        },
        /** The call has ended. */
        release() {
          peer?.add(-held);
          held = 0;
        },
      };
    },
  };
}

type HeldBytes = ReturnType<typeof createHeldBytes>;

const SPENT = {
  code: status.RESOURCE_EXHAUSTED,
  details: 'the service holds too many bytes for its clients',
};

/** A connection; on a Unix socket all of them together, since calls there do not name theirs. */
class Peer implements ByteHolder {
  heldBytes = 0;
  isEnded = false;
  readonly sockets = new Set<Socket>();
  readonly #budget: ByteBudget;
  #callBytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  add(bytes: number): void {
    this.#callBytes += bytes;
    if (!this.isEnded) this.#budget.report(this, this.#callBytes);
  }

  end(): void {
    this.isEnded = true;
    for (const socket of this.sockets) socket.destroy();
  }
}

/** The name that `getPeer` of a call returns. */
function peerName({ remoteAddress, remotePort }: Socket): string {
  if (remoteAddress === undefined) return 'unknown';
  return remotePort === undefined ? remoteAddress : `${remoteAddress}:${String(remotePort)}`;
}
