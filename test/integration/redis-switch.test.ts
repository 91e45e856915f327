import { counterStates } from '../support/limiters';
import { createSwitchListener } from '../../src/counters/redis/sentinel/create-sentinel-store';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { ask, keyFor, slowRule, usedHits } from '../support/algorithm-increments';
import { eventually } from '../support/edge/eventually';
import { startFakeSentinel, type FakeSentinel } from '../support/fake-sentinel';
import { eventuallyWithin } from '../support/edge/figure';
import { connectRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';

jest.setTimeout(60_000);

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  jest.useRealTimers();
  await stopRedisCounters();
  for (const end of ends.splice(0)) await end();
});

async function startTwo() {
  const servers = await Promise.all([startRedisServer(), startRedisServer()]);
  const [master, next] = servers;
  const sentinel = await startFakeSentinel(master.port);
  ends.push(sentinel.close, ...servers.map(({ stop }) => stop));
  const address = {
    kind: 'sentinel',
    masterName: 'limits',
    sentinels: [{ host: '127.0.0.1', port: sentinel.port }],
  } as const;
  const counters = await connectRedisCounters({ address });
  return { master, next, sentinel, counters };
}

const nameMaster = (sentinel: FakeSentinel, port: number) => {
  sentinel.master = { port, epoch: sentinel.master.epoch + 1 };
};

async function callsOf({ client }: RedisServer): Promise<number> {
  const found = /cmdstat_evalsha:calls=(\d+)/.exec(await client.info('commandstats'));
  return Number(found?.[1] ?? 0);
}

const untilHeard = (sentinel: FakeSentinel) =>
  eventually(() => {
    expect([...sentinel.channels]).toEqual(['+switch-master', '+failover-state-reconf-slaves']);
  });

it.each([
  ['+switch-master', 'limits 127.0.0.1 1 127.0.0.1 2'],
  ['+failover-state-reconf-slaves', 'master limits 127.0.0.1 1'],
])('a failover is heard by %s: each switch is known at once', async (channel, message) => {
  const { master, next, sentinel, counters } = await startTwo();
  await untilHeard(sentinel);
  for (let switches = 1; switches <= 10; switches += 1) {
    nameMaster(sentinel, (switches % 2 === 1 ? next : master).port);
    sentinel.publish(channel, message);
    await eventuallyWithin(
      () => {
        expect(counters.kinds().filter((kind) => kind === 'master-changed')).toHaveLength(
          switches + 1,
        );
      },
      { name: 'the switch is known', belowMs: 100 },
    );
  }
});

/** Stops the clock of what is done again and again; what is done once goes on. */
function stopIntervals(): void {
  const goingOn = ['Date', 'hrtime', 'nextTick', 'performance', 'queueMicrotask'] as const;
  const once = ['setImmediate', 'clearImmediate', 'setTimeout', 'clearTimeout'] as const;
  jest.useFakeTimers({ doNotFake: [...goingOn, ...once] });
}

it.each(['+switch-master', '+failover-state-reconf-slaves'])(
  '%s alone lets the store ask: without the questions of every half second, and with the old master still there',
  async (channel) => {
    stopIntervals();
    const { next, sentinel, counters } = await startTwo();
    await untilHeard(sentinel);
    // The first question, and the one once the master is connected: none other follows by itself.
    await eventually(() => {
      expect(sentinel.questions).toBe(2);
    });
    nameMaster(sentinel, next.port);
    sentinel.publish(channel, 'limits 127.0.0.1 1 127.0.0.1 2');
    await eventually(() => {
      expect(counters.kinds().filter((kind) => kind === 'master-changed')).toHaveLength(2);
    });
    const key = freshKey();
    await eventually(async () => {
      await counters.add(batch([increment(key)]));
      expect(Number(await next.client.get(key))).toBeGreaterThan(0);
    });
  },
);

it('a failover of this master is heard by its message alone, without asking', async () => {
  const sentinel = await startFakeSentinel(1);
  ends.push(sentinel.close);
  let heard = 0;
  const listener = createSwitchListener(
    { monotonicMs: () => performance.now(), random: Math.random, onSwitch: () => (heard += 1) },
    {
      masterName: 'limits',
      sentinels: [{ host: '127.0.0.1', port: sentinel.port }],
      auth: undefined,
      tls: undefined,
      timeoutMs: 2_000,
    },
  );
  const subscription = listener.run$.subscribe();
  await untilHeard(sentinel);
  sentinel.publish('+switch-master', 'others 127.0.0.1 1 127.0.0.1 2');
  sentinel.publish('+switch-master', 'limits 127.0.0.1 1 127.0.0.1 2');
  await eventually(() => {
    expect(heard).toBe(1);
  });
  listener.close();
  subscription.unsubscribe();
});

it('a sentinel that lets nobody listen is asked as before, and that is said once', async () => {
  const servers = await Promise.all([startRedisServer(), startRedisServer()]);
  const [master, next] = servers;
  const sentinel = await startFakeSentinel(master.port);
  ends.push(sentinel.close, ...servers.map(({ stop }) => stop));
  sentinel.isSilent = true;
  const sentinels = [{ host: '127.0.0.1', port: sentinel.port }];
  const counters = await connectRedisCounters({
    address: { kind: 'sentinel', masterName: 'limits', sentinels },
  });
  nameMaster(sentinel, next.port);
  const key = freshKey();
  await eventually(async () => {
    await counters.add(batch([increment(key)]));
    expect(Number(await next.client.get(key))).toBeGreaterThan(0);
  });
  expect(counters.kinds().filter((kind) => kind === 'switch-unheard')).toHaveLength(1);
});

it.each(['gcra', 'sliding_window', 'fixed_window'] as const)(
  'a demoted master answers refusals and looks of %s, which write nothing, until the switch is heard and no longer',
  async (name) => {
    const rule = slowRule(name);
    const { master, next, sentinel, counters } = await startTwo();
    await untilHeard(sentinel);
    const key = freshKey();
    const askOne = async () => {
      const { states, failures } = await counters.add(batch([ask(rule, key)]));
      if (failures !== undefined) throw failures.get(0) as Error;
      return usedHits(counterStates(states)?.[0], rule) < rule.limit;
    };
    for (let hits = 0; hits < rule.limit; hits += 1) expect(await askOne()).toBe(true);
    await master.client.replicaof('127.0.0.1', 1);
    expect(await askOne()).toBe(false);
    expect((await counters.peek([keyFor(rule, key)])).size).toBe(1);
    nameMaster(sentinel, next.port);
    sentinel.publish('+switch-master', 'limits 127.0.0.1 1 127.0.0.1 2');
    await eventually(() => {
      expect(counters.kinds().filter((kind) => kind === 'master-changed')).toHaveLength(2);
    });
    const before = await callsOf(master);
    await eventually(async () => {
      expect(await askOne()).toBe(true);
    });
    const text = freshKey();
    await next.client.set(text, '7');
    expect((await counters.peek([text])).get(text)?.count).toBe(7);
    expect(await callsOf(master)).toBe(before);
  },
);

it.each([0, 65_536, 700_000])(
  'port %d of a master is refused, and the master before stays',
  async (port) => {
    const { sentinel, counters } = await startTwo();
    nameMaster(sentinel, port);
    sentinel.publish('+switch-master', 'limits 127.0.0.1 1 127.0.0.1 2');
    await eventually(() => {
      expect(counters.events).toContainEqual(
        expect.objectContaining({
          kind: 'sentinel-failed',
          reason: `it gives "127.0.0.1,${String(port)}" as the address of "limits"`,
        }),
      );
    });
    expect((await counters.add(batch([increment(freshKey())]))).after).toEqual([1]);
    expect(counters.kinds().filter((kind) => kind === 'master-changed')).toHaveLength(1);
  },
);
