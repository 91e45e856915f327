import { StoreError } from '../../../src/core/errors';
import type { CounterBatch, CounterReply } from '../../../src/core/ports';
import { createRegistry } from '../../../src/stats/registry';
import { withStoreTime } from '../../../src/stats/store-time';

const BATCH: CounterBatch = { increments: [], groupEnds: undefined, nowSeconds: 0 };
const REPLY: CounterReply = { after: [], held: undefined, failures: undefined };

/** What the timer holds after one batch, which took 7 ms. */
async function timed(add: () => Promise<CounterReply>) {
  const registry = createRegistry();
  let nowMs = 0;
  const counters = withStoreTime(
    {
      add: () => {
        nowMs += 7;
        return add();
      },
      close: () => Promise.resolve(),
    },
    'redis',
    { statistics: registry, monotonicMs: () => nowMs },
  );
  const settled = await counters.add(BATCH).catch((error: unknown) => error);
  const { count = 0, sumMilliseconds = 0 } =
    registry.timers.get('ratelimit.store.redis.time') ?? {};
  return { settled, count, sumMilliseconds };
}

const failing = (code: 'store_timeout' | 'store_unavailable', fault: 'store' | 'breaker') => {
  const error = new StoreError(code, 'it failed', { fault, forCaller: 'it failed' });
  return () => Promise.reject(error);
};

it('times a batch once, and hands its reply on', async () => {
  const { settled, ...figures } = await timed(() => Promise.resolve(REPLY));
  expect(settled).toBe(REPLY);
  expect(figures).toEqual({ count: 1, sumMilliseconds: 7 });
});

it('times a time-out, and hands it on', async () => {
  const { settled, ...figures } = await timed(failing('store_timeout', 'store'));
  expect(settled).toMatchObject({ code: 'store_timeout' });
  expect(figures).toEqual({ count: 1, sumMilliseconds: 7 });
});

it('times no store that was not asked', async () => {
  expect(await timed(failing('store_unavailable', 'breaker'))).toMatchObject({ count: 0 });
  expect(await timed(failing('store_unavailable', 'store'))).toMatchObject({ count: 0 });
});
