import { Subject, lastValueFrom, map } from 'rxjs';
import { batchedRequests, turnWindow } from '../../streams';
import type { AlgorithmName } from '../../src/core/kinds/kinds';
import type { Clock, PendingRequest, ReadyCounters, Responder } from '../../src/core/ports';
import type { Rules } from '../../src/core/rules/rules';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { createDecideBatch, type DecideBatch } from '../../src/decisions/decide-batch';
import { createLiveView } from '../../src/stats/dashboard/create-live-view';
import { createRecordStats } from '../../src/stats/record-stats';
import { createRegistry } from '../../src/stats/registry';
import { PLAIN_DECISIONS } from '../support/decider';
import { requestSource, someRules } from './load';
import { median } from './measure';

const BURST = 100;
const ROUNDS = 7;
const BURSTS_PER_ROUND = 1_000;
/** Bursts whose answers are awaited together, as when ten connections have a hundred calls each. */
const IN_FLIGHT = 10;

const responder: Responder = { answer: () => true };

export function createDecider(
  counters: Pick<ReadyCounters, 'add'>,
  rules: Rules = someRules(1_000),
  clock: Clock = () => Date.now() / 1_000,
): DecideBatch {
  return createDecideBatch(
    {
      rules: { current: rules },
      counters,
      clock,
      random: Math.random,
      onFault: (error) => {
        throw error;
      },
    },
    { ...PLAIN_DECISIONS, ttlJitterSeconds: 300 },
  );
}

/** Makes bursts of 100 requests over 10,000 keys. */
function burstSource(descriptors: 1 | 2): () => readonly PendingRequest[] {
  const source = requestSource(10_000, 400, descriptors);
  return () => source(BURST).map((request, callId) => ({ request, responder, callId }));
}

export interface FlowOptions {
  readonly viaStreams?: boolean;
  readonly descriptors?: 1 | 2;
}

/** CPU µs of this process per decision: every burst is one emission, ten are in flight. */
export async function measureFlow(
  decide: DecideBatch,
  { viaStreams = true, descriptors = 2 }: FlowOptions = {},
  onRound: () => void = () => undefined,
): Promise<number> {
  const record = createRecordStats(createRegistry());
  const makeBurst = burstSource(descriptors);
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS + 2; round++) {
    let micros = 0;
    for (let i = 0; i < BURSTS_PER_ROUND; i += IN_FLIGHT) {
      const wave = Array.from({ length: IN_FLIGHT }, makeBurst);
      const before = process.cpuUsage();
      if (viaStreams) await throughStreams(wave, decide, record);
      else await Promise.all(wave.map((burst) => Promise.resolve(decide(burst)).then(record)));
      const { user, system } = process.cpuUsage(before);
      micros += user + system;
    }
    if (round >= 2) rounds.push(micros / (BURST * BURSTS_PER_ROUND));
    onRound();
  }
  return median(rounds);
}

async function throughStreams(
  wave: readonly (readonly PendingRequest[])[],
  decide: DecideBatch,
  record: (batchStats: Awaited<ReturnType<DecideBatch>>) => void,
): Promise<void> {
  const requestsSubject = new Subject<readonly PendingRequest[]>();
  const done = lastValueFrom(
    requestsSubject.pipe(
      batchedRequests({
        until: turnWindow(0, () => 0),
        maxSize: BURST,
        answer: async (burst) => decide(burst),
      }),
      map(record),
    ),
    { defaultValue: undefined },
  );
  for (const burst of wave) requestsSubject.next(burst);
  requestsSubject.complete();
  await done;
}

/** CPU µs per decision with counters of this algorithm in memory. */
export async function benchAlgorithmFlow(algorithm: AlgorithmName): Promise<number> {
  const counters = createMemoryCounters({ clock: () => Date.now() / 1_000 });
  const micros = await measureFlow(createDecider(counters, someRules(1_000, algorithm)));
  await counters.close();
  return micros;
}

export interface MemoryFlow {
  readonly plain: number;
  readonly streams: number;
  /** ReadState by the dashboard: while nobody looks, and while somebody does. */
  readonly unwatched: number;
  readonly watched: number;
}

/** The batch flow on memory: through the streams, and by calling the decider itself. */
export async function benchMemoryFlow(): Promise<MemoryFlow> {
  const clock = () => Date.now() / 1_000;
  const counters = createMemoryCounters({ clock });
  const decide = createDecider(counters);
  const plain = await measureFlow(decide, { viaStreams: false });
  const streams = await measureFlow(decide);
  const rules = someRules(1_000);
  const live = createLiveView(
    {
      rules: { current: rules },
      registry: createRegistry(),
      clock,
      monotonicMs: () => performance.now(),
      random: Math.random,
    },
    { keyPrefix: '' },
  );
  const seen = live.watchDecisions(createDecider(live.watchCounters(counters, 'store'), rules));
  const unwatched = await measureFlow(seen);
  live.start();
  const watched = await measureFlow(seen, {}, () => void live.take());
  live.stop();
  await counters.close();
  return { plain, streams, unwatched, watched };
}
