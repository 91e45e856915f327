import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import type { PendingRequest, Responder } from '../../src/core/ports';
import type { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { descriptor, request } from '../support/requests';
import { rulesOf, type RuleSketch } from '../support/rules';
import { createDecider } from './flow';
import { createLatencies } from './generator-latency';
import type { DecideBatch } from '../../src/decisions/decide-batch';

/** What one build is measured for, as JSON in the only argument. */
export interface KeysOrder {
  /** The folder of the build whose counters are used. */
  readonly dist: string;
  readonly kind: KeyKind;
  readonly keys: number;
}

export interface KeysReport {
  /** Memory for a counter: V8's heap and what lies outside of it. */
  readonly bytes: number;
  /** CPU of this process for a decision over keys in no order. */
  readonly micros: number;
  /** At 10,000 decisions a second, from when they were due, in ms. */
  readonly p99Ms: number;
  readonly longestMs: number;
  /** The same while all counters end together, and as many new ones begin. */
  readonly endingMs: number;
}

const MANY = 4_000_000_000;
const limit = (algorithm?: 'gcra' | 'sliding_window'): Omit<RuleSketch, 'key'> => ({
  limit: { unit: 'HOUR', requestsPerUnit: MANY, ...(algorithm && { algorithm }) },
});
export const KEY_KINDS = {
  fixed_window: limit(),
  gcra: limit('gcra'),
  sliding_window: limit('sliding_window'),
} as const;
export type KeyKind = keyof typeof KEY_KINDS;

const BURST = 100;
const DECISIONS = 400_000;
const PER_MS = 10;
const PACED_MS = 6_000;
const HOUR = 3_600;
/** Coprime to all numbers of keys: each comes once before one comes again. */
const STRIDE = 7_919_317;

const responder: Responder = { answer: () => true };
let now = Math.floor(Date.now() / 1_000 / HOUR) * HOUR + 1;
const clock = () => now;

async function run({ dist, kind, keys }: KeysOrder): Promise<KeysReport> {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- the build is an argument
  const built = require(join(dist, 'src/counters/memory/create-memory-counters.js')) as {
    readonly createMemoryCounters: typeof createMemoryCounters;
  };
  const options = { maxKeys: 4 * keys, maxBytes: Number.MAX_SAFE_INTEGER };
  const counters = built.createMemoryCounters({ clock }, options);
  const rules = rulesOf('edge', [{ key: 'user', ...KEY_KINDS[kind] }]);
  const decide = createDecider(counters, rules, clock);
  let at = 0;
  const next = (size: number): readonly PendingRequest[] =>
    Array.from({ length: size }, (_, callId) => {
      at = (at + STRIDE) % keys;
      const entry = Buffer.from(`user=user-${String(at).padStart(9, '0')}`).toString('latin1');
      return { request: request('edge', [descriptor(entry)]), responder, callId };
    });
  const before = memory();
  for (let made = 0; made < keys; made += BURST) {
    await decide(next(BURST));
    if (made % (100 * BURST) === 0) await turn();
  }
  const bytes = (memory() - before) / counters.liveKeys;
  const micros = await cost(decide, next);
  const paced = await pace(decide, next);
  now += HOUR;
  const ending = await pace(decide, next);
  await counters.close();
  const { p99Ms, longestMs } = paced;
  return { bytes, micros, p99Ms, longestMs, endingMs: ending.longestMs };
}

function memory(): number {
  global.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function cost(
  decide: DecideBatch,
  next: (size: number) => readonly PendingRequest[],
): Promise<number> {
  const before = process.cpuUsage();
  for (let done = 0; done < DECISIONS; done += BURST) {
    await decide(next(BURST));
    if (done % (100 * BURST) === 0) await turn();
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / DECISIONS;
}

/** Asks what is due each millisecond. */
async function pace(decide: DecideBatch, next: (size: number) => readonly PendingRequest[]) {
  const latencies = createLatencies();
  const startMs = performance.now();
  for (let dueMs = startMs; dueMs < startMs + PACED_MS; dueMs += 1) {
    if (performance.now() < dueMs) await delay(1);
    await decide(next(PER_MS));
    latencies.record(Math.max(0, performance.now() - dueMs) * 1_000);
  }
  return { p99Ms: latencies.quantile(0.99), longestMs: latencies.quantile(1) };
}

if (require.main === module)
  void run(JSON.parse(process.argv[2] ?? '') as KeysOrder).then((report) => {
    console.log(JSON.stringify(report));
  });
