// One of several processes that hit one key by the built service. It is sent a task (`port`, `key`, `hits`, `limit`, `isCluster`,
// `algorithm`, `charging`), says when it is connected, hits when it is told to start, and says how many of its hits were admitted.
const { createRedisCounters } = require('../../dist/src/counters/redis/create-redis-counters.js');

const { plainLimiter, toLimiter } = require('../../dist/src/core/kinds/kinds.js');
const { countAdmitted } = require('../../dist/src/core/kinds/whole.js');

function limiterOf({ limit, algorithm, charging }) {
  if (algorithm === undefined) return plainLimiter(limit);
  // Long enough that nothing drains while they run.
  const periodSeconds = 80_000_000;
  return toLimiter({ algorithm, limit, chargeDenied: charging === 'charge_denied', periodSeconds });
}

function connect({ port, isCluster }) {
  const place = { host: '127.0.0.1', port };
  const address = isCluster ? { kind: 'cluster', nodes: [place] } : { kind: 'tcp', ...place };
  const counters = createRedisCounters(
    { monotonicMs: () => performance.now(), random: Math.random },
    { address, timeoutMs: 30_000, pool: { size: 2, onEmpty: 'wait', onEmptyWaitMs: 0 } },
  );
  counters.run$.subscribe();
  return counters;
}

async function hit(counters, { key, hits, limit, ...task }) {
  const limiter = limiterOf({ limit, ...task });
  const rule = { unit: 'DAY' };
  const increment = { key, hits: 1, limit, rule, ttlSeconds: 86_400, limiter, times: 1 };
  let left = hits;
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
          ? after.filter((count) => count <= limit).length
          : states.filter((each) => countAdmitted(limiter, each, { hits: 1, times: 1 }) === 1)
              .length;
    }
  };
  await Promise.all(Array.from({ length: 40 }, work));
  await counters.close();
  return admitted;
}

process.on('message', (task) => {
  if (task === 'start') return;
  const counters = connect(task);
  const connected = counters.connected$.subscribe((isConnected) => {
    if (!isConnected) return;
    setImmediate(() => connected.unsubscribe());
    process.once(
      'message',
      () => void hit(counters, task).then((admitted) => process.send(admitted)),
    );
    process.send('connected');
  });
});
