/*
 * Run with --expose-gc: puts keys, each cut from and joined with the texts of a request of its own, into what keeps keys,
 * and prints the bytes of heap per key that stay.
 */
const [what, keys, length] = process.argv.slice(2);
const { createMemoryCounters } = require('../../dist/src/counters/memory/create-memory-counters');
const { createOverLimitCache } = require('../../dist/src/counters/over-limit-cache');
const { plainLimiter } = require('../../dist/src/core/kinds/kinds');
const { createRecentKeys } = require('../../dist/src/counters/redis/connection');

const REQUEST_CHARACTERS = 100_000;

function incrementOf(index) {
  const body = Buffer.alloc(REQUEST_CHARACTERS, 'x').toString('latin1');
  const value = body.slice(0, Number(length));
  return {
    key: `shop_user_${String(index)}_${value}` + '_1795240200',
    hits: 1,
    limit: 10,
    unit: 'DAY',
    ttlSeconds: 60,
    windowEndSeconds: 1_795_240_260,
    limiter: plainLimiter(10),
    times: 1,
  };
}

const nowSeconds = 1_795_240_201;
const keepers = {
  memory() {
    const counters = createMemoryCounters({ clock: () => nowSeconds });
    return (increment) =>
      counters.add({ increments: [increment], groupEnds: undefined, nowSeconds });
  },
  'over-limit cache'() {
    const cache = createOverLimitCache({}, { sizeBytes: 50_000_000 });
    return (increment) => cache.remember(increment, 11, nowSeconds);
  },
  'recent keys'() {
    const recent = createRecentKeys({ maxKeys: 100_000, maxBytes: 50_000_000 });
    return (increment) => recent.add(increment.key);
  },
};

function heapBytes() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

async function main() {
  const keep = keepers[what]();
  await keep(incrementOf(-1));
  const before = heapBytes();
  for (let index = 0; index < Number(keys); index += 1) await keep(incrementOf(index));
  const perKey = (heapBytes() - before) / Number(keys);
  // The keeper must live until here.
  await keep(incrementOf(-1));
  process.stdout.write(String(Math.round(perKey)));
}

void main();
