import type { StoreError } from '../../src/core/errors';
import type { Counters } from '../../src/core/ports';
import {
  createCircuitBreaker,
  type BreakerChange,
} from '../../src/counters/circuit-breaker/circuit-breaker';
import { withCircuitBreaker } from '../../src/counters/circuit-breaker/circuit-breaker';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { startStopwatch } from '../support/edge/core-time';
import { eventually } from '../support/edge/eventually';
import { eventuallyWithin, expectFigure } from '../support/edge/figure';
import {
  connectMemcachedCounters,
  stopMemcachedCounters,
} from '../support/edge/memcached-counters';
import { startMemcachedServer } from '../support/edge/memcached-server';
import { connectRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { startRedisServer } from '../support/edge/redis-server';

/** As issued: KVSTORE_TIMEOUT=300ms. */
const TIMEOUT_MS = 300;
const OPEN_WITHIN_MS = 1_500;
const LONGEST_CALL_MS = 1_000;
const BACK_WITHIN = { name: 'right again', belowMs: 2_500 };
const P99_MS = 5;

/** Stores that tests hang, with what the service uses to connect again. */
const INTERVALS = { startupInitialMs: 1_000, startupMaxMs: 1_000 };

interface Hangable {
  pause(): void;
  resume(): void;
}

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all([stopRedisCounters(), stopMemcachedCounters()]);
  await Promise.all(endings.splice(0).map((end) => end()));
});

async function startRedis(): Promise<[Counters, Hangable]> {
  const server = await startRedisServer();
  endings.push(() => server.stop());
  const counters = await connectRedisCounters({
    address: server.address,
    timeoutMs: TIMEOUT_MS,
    ...INTERVALS,
  });
  return [counters, server];
}

async function startMemcached(): Promise<[Counters, Hangable]> {
  const server = await startMemcachedServer();
  endings.push(() => server.stop());
  const intervals = { initialIntervalMs: 1_000, maxIntervalMs: 1_000 };
  const counters = await connectMemcachedCounters([server.address], {
    timeoutMs: TIMEOUT_MS,
    ...intervals,
  });
  return [counters, server];
}

interface Call {
  readonly startMs: number;
  readonly ms: number;
  readonly error: StoreError | undefined;
}

/** Calls at a steady pace, whether or not those before were answered. */
function load(counters: Counters, everyMs: number) {
  const calls: Call[] = [];
  const open: Promise<void>[] = [];
  const call = async (): Promise<void> => {
    const startMs = performance.now();
    const elapsedMs = startStopwatch();
    const error = await counters.add(batch([increment(freshKey())])).then(
      () => undefined,
      (thrown: unknown) => thrown as StoreError,
    );
    calls.push({ startMs, ms: elapsedMs(), error });
  };
  const timer = setInterval(() => {
    for (let each = 0; each < 4; each += 1) open.push(call());
  }, everyMs);
  return {
    calls,
    async stop() {
      clearInterval(timer);
      await Promise.all(open);
    },
  };
}

/** What is in use on the heap; not what is left for the next collection. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

const p99 = (calls: readonly Call[]): number =>
  calls.map(({ ms }) => ms).sort((a, b) => a - b)[Math.floor(calls.length * 0.99)] ?? NaN;

describe.each([
  ['Redis', startRedis],
  ['memcached', startMemcached],
])('while %s hangs', (_, startStore) => {
  it('calls are answered at once when the breaker has opened, and right again when it is back', async () => {
    const [counters, server] = await startStore();
    const changes: (BreakerChange & { readonly atMs: number })[] = [];
    const guarded = withCircuitBreaker(
      counters,
      createCircuitBreaker({
        monotonicMs: () => performance.now(),
        onChange: (change) => changes.push({ ...change, atMs: performance.now() }),
      }),
    );
    const { calls, stop } = load(guarded, 5);
    await eventually(() => {
      expect(calls.length).toBeGreaterThan(100);
      // A store that waited for a core may have looked like one that hangs.
      expect(changes.at(-1)?.kind ?? 'closed').toBe('closed');
    });
    const memoryBefore = usedBytes();
    server.pause();
    const hungMs = performance.now();
    const elapsedMs = startStopwatch();
    const opened = await eventually(() => {
      const first = changes.find(({ atMs }) => atMs > hungMs);
      if (first === undefined) throw new Error('the breaker is closed');
      return { ...first, afterMs: elapsedMs() };
    });
    await eventually(
      () => {
        expect(calls.filter(({ startMs }) => startMs > opened.atMs).length).toBeGreaterThan(1_500);
      },
      { withinMs: 30_000 },
    );
    const wokeMs = performance.now();
    server.resume();
    await eventuallyWithin(() => {
      expect(calls.at(-1)).toMatchObject({ error: undefined });
      expect(changes.at(-1)?.kind).toBe('closed');
    }, BACK_WITHIN);
    await stop();

    const away = calls.filter(({ startMs }) => startMs > opened.atMs && startMs < wokeMs);
    expect(away.filter(({ error }) => error === undefined)).toEqual([]);
    expect(usedBytes() - memoryBefore).toBeLessThan(50e6);
    const longestMs = Math.max(...calls.map(({ ms }) => ms));
    expectFigure({ name: 'open', value: opened.afterMs, unit: 'ms', below: OPEN_WITHIN_MS });
    expectFigure({ name: 'p99 while open', value: p99(away), unit: 'ms', below: P99_MS });
    expectFigure({ name: 'longest call', value: longestMs, unit: 'ms', below: LONGEST_CALL_MS });
  });
});
