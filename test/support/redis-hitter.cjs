// One of several processes that hit one key: node redis-hitter.cjs <port> <key> <hits> <limit> <kind> [algorithm] [charge_denied]
// Uses the built service. Prints how many of its hits were admitted.
const { createRedisCounters } = require('../../dist/src/counters/redis/create-redis-counters.js');

const { plainLimiter, toLimiter } = require('../../dist/src/core/kinds/kinds.js');
const { countAdmitted } = require('../../dist/src/core/kinds/whole.js');

const [port, key, hits, limit, kind, name, charging] = process.argv.slice(2);
// Long enough that nothing drains while they run.
const limiter =
  name === undefined
    ? plainLimiter(Number(limit))
    : toLimiter({
        algorithm: name,
        limit: Number(limit),
        burst: undefined,
        chargeDenied: charging === 'charge_denied',
        periodSeconds: 80_000_000,
      });
const place = { host: '127.0.0.1', port: Number(port) };
const address =
  kind === 'cluster' ? { kind: 'cluster', nodes: [place] } : { kind: 'tcp', ...place };
const counters = createRedisCounters(
  { monotonicMs: () => performance.now(), random: Math.random },
  { address, timeoutMs: 30_000, pool: { size: 2, onEmpty: 'wait', onEmptyWaitMs: 0 } },
);
const rule = { unit: 'DAY' };
const increment = {
  key,
  hits: 1,
  limit: Number(limit),
  rule,
  ttlSeconds: 86_400,
  limiter,
  times: 1,
};

async function run() {
  let left = Number(hits);
  let admitted = 0;
  const work = async () => {
    while (left > 0) {
      // Batches of other sizes, as requests come; a key may stand in one several times.
      const size = Math.min(left, 1 + (left % 7));
      left -= size;
      const increments = Array.from({ length: size }, () => increment);
      const { after, failures, states } = await counters.add({
        increments,
        runEnds: undefined,
        nowSeconds: Date.now() / 1_000,
      });
      if (failures !== undefined) throw [...failures.values()][0];
      admitted +=
        states === undefined
          ? after.filter((count) => count <= Number(limit)).length
          : states.filter((each) => countAdmitted(limiter, each, { hits: 1, times: 1 }) === 1)
              .length;
    }
  };
  await Promise.all(Array.from({ length: 40 }, work));
  await counters.close();
  return admitted;
}

counters.run$.subscribe();
let isStarted = false;
counters.connected$.subscribe((isConnected) => {
  if (!isConnected || isStarted) return;
  isStarted = true;
  run().then(
    (admitted) => process.stdout.write(`${admitted}\n`, () => process.exit(0)),
    (error) => process.stderr.write(`${error.stack}\n`, () => process.exit(1)),
  );
});
