import { counterStates } from '../support/limiters';
import { ask, slowRule, usedHits } from '../support/algorithm-increments';
import { batch, freshKey, increment, START_SECONDS } from '../support/increments';
import { describeWithStores, nearRedis, type NearRedis } from '../support/near-stores';
import { runRedisCounters, stopRedisCounters } from '../support/redis-counters';

const NEEDED = 'this rule needs scripts, and the store does not accept them';

const gcra = slowRule('gcra');
const sliding = slowRule('sliding_window');

describeWithStores('a batch of rules with algorithms and without', () => {
  let redis: NearRedis;
  beforeAll(async () => {
    redis = await nearRedis(START_SECONDS);
  });
  afterEach(stopRedisCounters);
  afterAll(() => redis.client.quit());

  async function started(options: Partial<Parameters<typeof runRedisCounters>[0]> = {}) {
    const counters = runRedisCounters({ address: redis.address, timeoutMs: 10_000, ...options });
    await counters.untilConnected();
    return counters;
  }

  /** Calls of each command since the statistics were set back. */
  async function callsOf(command: string): Promise<number> {
    const info = await redis.client.info('commandstats');
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(info)?.[1] ?? 0);
  }

  it('takes one call without algorithms, and does not read the clock', async () => {
    const counters = await started();
    await redis.client.config('RESETSTAT');
    await counters.add(batch([increment(freshKey()), increment(freshKey())]));
    const calls = ['evalsha', 'eval', 'time', 'incrby'].map((name) => callsOf(name));
    expect(await Promise.all(calls)).toEqual([1, 0, 0, 2]);
  });

  it('takes two calls with both, and one when its requests are decided together', async () => {
    const counters = await started();
    const asked = () => [increment(freshKey()), ask(gcra, freshKey()), ask(sliding, freshKey())];
    await counters.add(batch(asked()));
    await counters.add(batch(asked(), [3]));
    await redis.client.config('RESETSTAT');
    await counters.add(batch(asked()));
    expect(await callsOf('evalsha')).toBe(2);
    await counters.add(batch(asked(), [3]));
    expect(await callsOf('evalsha')).toBe(3);
  });

  it('counts more than one call may hold', async () => {
    const counters = await started();
    const keys = Array.from({ length: 4_500 }, () => freshKey());
    const asked = keys.map((key, at) => (at % 3 === 0 ? increment(key, 2) : ask(gcra, key, 2)));
    await counters.add(batch(asked));
    const { after, states, failures } = await counters.add(batch(asked));
    expect(failures).toBeUndefined();
    keys.forEach((_, at) => {
      if (at % 3 === 0) expect(after[at]).toBe(4);
      else expect(usedHits(counterStates(states)?.[at], gcra)).toBe(2);
    });
  });

  it('fails alone what has an algorithm where there are no scripts, counts the rest, and says so once', async () => {
    const counters = await started({ scripts: false });
    for (const groupEnds of [undefined, [2], [1, 2]]) {
      const reply = await counters.add(
        batch([ask(gcra, freshKey()), increment(freshKey(), 3)], groupEnds),
      );
      expect(reply.after[1]).toBe(3);
      expect([...(reply.failures?.keys() ?? [])]).toEqual([0]);
      expect(reply.failures?.get(0)).toMatchObject({ fault: 'answer', forCaller: NEEDED });
    }
    await expect(counters.add(batch([ask(gcra, freshKey())]))).rejects.toMatchObject({
      forCaller: NEEDED,
    });
    expect(counters.kinds().filter((kind) => kind === 'scripts-needed')).toHaveLength(1);
  });
});
