import { StoreError } from '../../src/core/errors';
import type { RedisCountersOptions } from '../../src/counters/redis/options';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { eventually } from '../support/edge/eventually';
import {
  connectRedisCounters,
  runRedisCounters,
  stopRedisCounters,
} from '../support/edge/redis-counters';
import { startSentinels, type SentinelSetup } from '../support/edge/redis-sentinels';
import { startTcpProxy } from '../support/edge/tcp-proxy';

jest.setTimeout(60_000);

/** What the service uses unless told otherwise. */
const SERVICE = { startupInitialMs: 1_000, startupMaxMs: 1_000, timeoutMs: 10_000 };

let setup: SentinelSetup;
beforeEach(async () => {
  setup = await startSentinels();
});
afterEach(async () => {
  await stopRedisCounters();
  await setup.stop();
});

async function connected(options: Partial<RedisCountersOptions> = SERVICE) {
  const counters = await connectRedisCounters({ address: setup.address, ...options });
  return counters;
}

describe('sentinels', () => {
  it('one that answers is enough', async () => {
    const [first, second] = setup.sentinels;
    await Promise.all([first?.stop(), second?.stop()]);
    const counters = await connected();
    expect((await counters.add(batch([increment(freshKey())]))).after).toEqual([1]);
    const failed = counters.events.filter(({ kind }) => kind === 'sentinel-failed');
    expect(new Set(failed.map(({ store }) => store)).size).toBe(2);
  });

  it('one that is cut off is reported for each question that it fails, and once when it comes back', async () => {
    const [first] = setup.address.sentinels;
    const proxy = await startTcpProxy(first?.port ?? 0);
    try {
      const sentinels = [{ host: '127.0.0.1', port: proxy.port }];
      const counters = await connected({ address: { ...setup.address, sentinels } });
      const told = () => counters.kinds().filter((kind) => kind.startsWith('sentinel-'));
      proxy.behaviour.swallow = 'requests';
      await eventually(() => {
        expect(told().length).toBeGreaterThan(1);
      });
      expect(new Set(told())).toEqual(new Set(['sentinel-failed']));
      proxy.behaviour.swallow = 'nothing';
      await eventually(() => {
        expect(told().at(-1)).toBe('sentinel-works');
      });
      expect(told().filter((kind) => kind === 'sentinel-works')).toHaveLength(1);
    } finally {
      await proxy.close();
    }
  });

  it('that all go away change nothing for a master that is there', async () => {
    const counters = await connected();
    await Promise.all(setup.sentinels.map((sentinel) => sentinel.stop()));
    await eventually(() => {
      const failures = counters.kinds().filter((kind) => kind === 'sentinel-failed');
      expect(failures.length).toBeGreaterThanOrEqual(3);
    });
    expect((await counters.add(batch([increment(freshKey())]))).after).toEqual([1]);
    expect(counters.states).toEqual([false, true]);
  });

  it('that do not know the master are quoted', async () => {
    const address = { ...setup.address, masterName: 'elsewhere' };
    const counters = runRedisCounters({ address });
    await eventually(() => {
      expect(counters.kinds()).toContain('sentinel-failed');
    });
    await expect(counters.add(batch([increment(freshKey())]))).rejects.toThrow(
      /sentinel 127\.0\.0\.1:\d+: .*(No such master|does not know a master)/,
    );
  });

  it('that name nobody in time end the start, when it is limited', async () => {
    const address = { ...setup.address, masterName: 'elsewhere' };
    const counters = runRedisCounters({ address, startupMaxElapsedMs: 300 });
    await eventually(() => {
      expect(counters.end).toBeInstanceOf(StoreError);
    });
    expect((counters.end as StoreError).message).toMatch(/could not be reached within 300 ms/);
  });
});

it('closed completes, and leaves no connection to a server or a sentinel behind', async () => {
  const clients = async () => {
    const lists = await Promise.all(
      [...setup.sentinels, ...setup.servers].map(({ client }) => client.client('LIST')),
    );
    return lists.map(
      (list) =>
        String(list)
          .split('\n')
          .filter((line) => line.includes(' name= ')).length,
    );
  };
  const before = await clients();
  const counters = await connected();
  expect(await clients()).not.toEqual(before);
  await counters.close();
  await eventually(async () => {
    expect(counters.end).toBe('complete');
    expect(await clients()).toEqual(before);
  });
});
