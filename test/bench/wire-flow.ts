import type { CallTracer, BatchTracer, PendingRequest } from '../../src/core/ports';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { createDecideBatch } from '../../src/decisions/decide-batch';
import { createRecordStats } from '../../src/stats/record-stats';
import { createRegistry } from '../../src/stats/registry';
import { createDecisionMethod } from '../../src/transport/grpc/wire/should-rate-limit';
import type { Client } from '../../src/transport/grpc/wire/connection';
import { createRejectionBlocks } from '../../src/wire/grpc/responses';
import { DEFAULT_BOUNDS } from '../../src/transport/bounds';
import { createGrpcConnection } from '../../src/wire/grpc/connection';
import { MESSAGE_BOUNDS } from '../support/bounds';
import { CLIENT_PREFACE } from '../../src/wire/http2/frames';
import { someRules } from './load';
import { createSession } from './wire-load';

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
const PER_READ = 100;
const READS = 300;
const KEYS = 10_000;

export interface WireFlowOptions {
  /** Headers differ in every call, a traceparent among them; one call of `sampledEvery` is to be traced. */
  readonly varied: boolean;
  readonly sampledEvery: number;
  readonly tracer: (CallTracer & BatchTracer) | undefined;
}

/** From the octets of a socket read to those of its answers, on counters in memory. */
export interface WireFlow {
  /** CPU µs of this process per decision, over one round. */
  readonly round: () => Promise<number>;
}

export function createWireFlow({ varied, sampledEvery, tracer }: WireFlowOptions): WireFlow {
  const registry = createRegistry();
  const clock = () => Date.now() / 1_000;
  const decide = createDecideBatch(
    {
      rules: { current: someRules(1_000) },
      counters: createMemoryCounters({ clock }),
      clock,
      random: Math.random,
      tracer,
      onFault: (error) => {
        throw error;
      },
    },
    {
      ...{ keyPrefix: '', ttlJitterSeconds: 300, holdBack: false, nearLimitRatio: 0.8 },
      ...{ quotaMode: false, shadowMode: false, headers: undefined, dynamicMetadata: false },
    },
  );
  const record = createRecordStats(registry);
  let asked: readonly PendingRequest[] = [];
  const decisions = createDecisionMethod({
    bounds: DEFAULT_BOUNDS,
    ask: (batch) => (asked = batch),
    statistics: registry,
    nowMs: () => performance.now(),
    tracer,
  });
  const client: Client = {
    get grpc() {
      return grpc;
    },
    askedAtMs: [],
    left: new Set(),
    scheduleFlush: () => undefined,
    responder: {
      answer(callId, answer) {
        return decisions.answer(client, callId, answer);
      },
    },
  };
  const grpc = createGrpcConnection({
    methods: new Map([[PATH, decisions.method]]),
    client,
    inflate: () => new Uint8Array(0),
    bounds: MESSAGE_BOUNDS,
    rejectionBlock: createRejectionBlocks(),
    createCallContext: decisions.createCallContext,
    headerReader: decisions.headerReader,
  });
  const settings = Uint8Array.from([0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0]);
  const grant = Uint8Array.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0x40, 0, 0, 0]);
  grpc.receive(Buffer.concat([CLIENT_PREFACE, settings, grant]), 0);
  const session = createSession(varied, KEYS, sampledEvery);

  const take = async (bytes: Uint8Array): Promise<number> => {
    const now = performance.now();
    decisions.begin(now);
    grpc.receive(bytes, now);
    decisions.emitBatch();
    record(await decide(asked));
    decisions.reportTimes();
    const piece = grpc.http2.takeOutput();
    if (piece === undefined) throw new Error('the bench is wrong: no answer');
    grpc.http2.releaseOutput(piece);
    return piece.length;
  };

  return {
    async round() {
      const reads = Array.from({ length: READS }, () => session(PER_READ));
      let octets = 0;
      const before = process.cpuUsage();
      for (const bytes of reads) {
        octets += await take(bytes);
        // As behind a socket: exports and timers have their turn.
        await new Promise(setImmediate);
      }
      const { user, system } = process.cpuUsage(before);
      grpc.receive(windowUpdate(octets), performance.now());
      return (user + system) / (READS * PER_READ);
    },
  };
}

function windowUpdate(octets: number): Uint8Array {
  const frame = Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  frame.writeUInt32BE(octets, 9);
  return frame;
}
