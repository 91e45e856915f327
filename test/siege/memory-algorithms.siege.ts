import { limiterOf, plain } from '../support/limiters';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Increment } from '../../src/core/ports';
import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { SOME_MATCH } from '../support/rules';

const COUNTERS = 200_000;
const BATCH = 1_000;
const NOW = 1_795_240_232.5;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const heapUsed = (): number => {
  for (let round = 0; round < 3; round += 1) collect();
  return process.memoryUsage().heapUsed;
};

/** Bytes of the heap for each of so many live counters. */
async function bytesOfCounter(incrementOf: (serial: number) => Increment): Promise<number> {
  const counters = createMemoryCounters({ clock: () => NOW });
  const before = heapUsed();
  for (let first = 0; first < COUNTERS; first += BATCH) {
    const increments = Array.from({ length: BATCH }, (_, at) => incrementOf(first + at));
    await counters.add({ increments, groupEnds: undefined, nowSeconds: NOW });
  }
  const bytes = heapUsed() - before;
  expect(counters.liveKeys).toBe(COUNTERS);
  await counters.close();
  return bytes / COUNTERS;
}

const common = {
  hits: 3,
  ...plain(100),
  ttlSeconds: 3_900,
  windowEndSeconds: 1_795_242_000,
  ...SOME_MATCH,
};
const nameOf = (serial: number): string => `shop_user_${serial.toString(36)}@example.org`;

it.each(['gcra', 'sliding_window'] as const)(
  '200,000 live counters of %s take at most 1.5 times the memory of fixed windows',
  async (name) => {
    const limiter = limiterOf({
      name,
      limit: 100,
      burst: undefined,
      chargeDenied: false,
      periodSeconds: 3_600,
    });
    const fixed = await bytesOfCounter((serial) => ({
      ...common,
      key: `${nameOf(serial)}_1795238400`,
    }));
    const own = await bytesOfCounter((serial) => ({
      ...common,
      key: `${nameOf(serial)}${limiter.keyEnd ?? ''}`,
      limiter,
    }));
    console.log(`${name}: ${own.toFixed(0)} bytes a counter, fixed window: ${fixed.toFixed(0)}`);
    expect(own / fixed).toBeLessThanOrEqual(1.5);
    // What the cap on bytes reckons with is no less than what is taken.
    const text = nameOf(COUNTERS).length + 12;
    expect(own).toBeLessThan(240 + 2 * text);
  },
);
