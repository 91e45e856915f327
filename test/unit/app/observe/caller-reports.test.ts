import { createCallerReports } from '../../../../src/app/observe/caller-reports';
import { BatchStatsBuilder } from '../../../../src/core/decision/figures';
import { createRegistry } from '../../../../src/stats/registry';

/** Reports of batches, each of them a list of what failed and worked since the last one. */
function start() {
  const registry = createRegistry();
  const said: unknown[] = [];
  let nowMs = 0;
  const report = createCallerReports({
    registry,
    outages: {
      failed: (name, { failing }, fields, times) => said.push({ name, failing, fields, times }),
      succeeded: (name) => said.push(`${name} worked`),
    },
    monotonicMs: () => nowMs,
  });
  return {
    batch(requests: number, abandoned: number, storeMs = 101) {
      const stats = new BatchStatsBuilder({ unknownDomains: [], unmatched: undefined }, requests);
      stats.abandoned = abandoned;
      registry.time('ratelimit.store.redis.time', storeMs, 1);
      report(stats);
    },
    pass(milliseconds: number) {
      nowMs += milliseconds;
    },
    take: () => said.splice(0),
  };
}

it('reports an outage when more than a tenth of the callers of a second give up, with the time of the store', () => {
  const { batch, pass, take } = start();
  for (let i = 0; i < 10; i += 1) batch(2, 1);
  expect(take()).toEqual([]);
  pass(1_000);
  batch(2, 1);
  expect(take()).toEqual([
    {
      name: 'callers',
      failing:
        'callers give up before they are answered, and admit or refuse requests without a limit',
      fields: { share: '50 %', storeMs: 101 },
      times: 11,
    },
  ]);
});

it('reports its end with the first second in which they wait, and nothing for one who hangs up now and then', () => {
  const { batch, pass, take } = start();
  pass(1_000);
  batch(10, 10);
  pass(1_000);
  batch(10, 1);
  expect(take().at(-1)).toBe('callers worked');
});

it('waits for ten requests: one of one is no share', () => {
  const { batch, pass, take } = start();
  for (let i = 0; i < 9; i += 1) {
    pass(1_000);
    batch(1, 1);
  }
  expect(take()).toEqual([]);
  batch(1, 1);
  expect(take()).toHaveLength(1);
});
