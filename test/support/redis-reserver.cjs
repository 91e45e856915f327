// One of several processes that reserve and settle: node redis-reserver.cjs <port> <key> <rounds> <slots> <limit> <lease ms>
// Uses the built service. Prints a line for each settlement that was told (`<hits>`), and last `<refused> <most in flight>`, where
// those in flight are counted beside the service: later than a slot is taken, sooner than it is freed.
const { Redis } = require('ioredis');
const { createRedisCounters } = require('../../dist/src/counters/redis/create-redis-counters.js');
const { budgetKind } = require('../../dist/src/core/budgets/budget-kind.js');
const { slots } = require('../../dist/src/core/budgets/budget-kind.js');
const { fixed } = require('../../dist/src/core/kinds/window.js');
const { compileLimiter } = require('../../dist/src/core/kinds/limiter.js');

const [port, key, rounds, most, limit, leaseMs] = process.argv.slice(2);
// Long enough that nothing ends while they run.
const periodSeconds = 80_000_000;
const endSeconds = 4_000_000_000;
const entry = (kind, size) => ({
  limiter: compileLimiter(kind, { limit: size, periodSeconds }),
  id: kind === slots ? 'i0' : `f${periodSeconds}`,
  windowAt: kind === slots ? undefined : () => ({ startSeconds: 0, endSeconds }),
  isSlots: kind === slots,
  isResting: false,
  longestSeconds: kind === slots ? 0 : endSeconds,
  periodSeconds,
});
const limiter = {
  ...compileLimiter(fixed, { limit: Number(limit), periodSeconds }),
  kind: budgetKind,
  tickMicros: 1_000,
  isAlone: true,
  budget: {
    entries: [entry(slots, Number(most)), entry(fixed, Number(limit))],
    reserve: { leaseMs: Number(leaseMs), isReleased: false },
    blocks: [],
    isForced: false,
    isShadow: false,
  },
};
const beside = new Redis(Number(port));
const counters = createRedisCounters(
  { monotonicMs: () => performance.now(), random: Math.random },
  {
    address: { kind: 'tcp', host: '127.0.0.1', port: Number(port) },
    timeoutMs: 30_000,
    pool: { size: 2, onEmpty: 'wait', onEmptyWaitMs: 0 },
  },
);

async function call(mode, id, hits) {
  const reservation = { mode, id, saysHits: true };
  const one = { key, hits, times: 1, limit: 1, ttlSeconds: 1, limiter, reservation, rule: {} };
  const nowSeconds = Date.now() / 1_000;
  const { failures, states } = await counters.add({ increments: [one], nowSeconds });
  if (failures !== undefined) throw [...failures.values()][0];
  return limiter.kind.outcome(one, states[0], hits, 0, nowSeconds);
}

async function run() {
  let left = Number(rounds);
  let refused = 0;
  let highest = 0;
  const work = async (worker) => {
    while (left > 0) {
      const id = `${process.pid}-${worker}-${left}`;
      const hits = 1 + (left % 3);
      left -= 1;
      const { isOver } = await call('reserve', id, 3);
      if (isOver) {
        refused += 1;
        continue;
      }
      highest = Math.max(highest, await beside.incr('beside'));
      await beside.decr('beside');
      await call('settle', id, hits);
      process.stdout.write(`${hits}\n`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, worker) => work(worker)));
  await counters.close();
  beside.disconnect();
  process.stdout.write(`${refused} ${highest}\n`);
}

counters.run$.subscribe();
let isStarted = false;
counters.connected$.subscribe((isConnected) => {
  if (!isConnected || isStarted) return;
  isStarted = true;
  run().catch((error) => process.stderr.write(`${error.stack}\n`, () => process.exit(1)));
});
