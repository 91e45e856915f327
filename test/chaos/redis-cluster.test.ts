import { setTimeout as delay } from 'node:timers/promises';
import { type StoreError } from '../../src/core/errors';
import { slotOf } from '../../src/counters/redis/cluster/slots';
import type { RedisCountersOptions } from '../../src/counters/redis/options';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { ask, keyFor, slowRule } from '../support/algorithm-increments';
import { eventually } from '../support/edge/eventually';
import { startRedisCluster, type RedisCluster } from '../support/edge/redis-cluster';
import {
  runRedisCounters,
  stopRedisCounters,
  type RunningRedisCounters,
} from '../support/edge/redis-counters';
import type { RedisServer } from '../support/edge/redis-server';

jest.setTimeout(60_000);

const SERVICE = { startupInitialMs: 1_000, startupMaxMs: 1_000, timeoutMs: 10_000 };

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterEach(stopRedisCounters);
afterAll(() => cluster.stop());

async function connected(options: Partial<RedisCountersOptions> = SERVICE) {
  const counters = runRedisCounters({ address: cluster.address, ...options });
  await counters.untilConnected();
  return counters;
}

/** Keys of which so many lie on each master. */
async function keysOf(server: RedisServer, count: number) {
  const keys: string[] = [];
  while (keys.length < count) {
    const key = freshKey();
    if ((await cluster.ownerOf(key)) === server) keys.push(key);
  }
  return keys;
}

/** Batches over all keys in a row; every answered increment is noted. */
function hammer(counters: RunningRedisCounters, keys: readonly string[]) {
  const answered = new Map<string, number>();
  const calls = new Map<string, number>();
  const errors: StoreError[] = [];
  let isStopped = false;
  const note = (in_: Map<string, number>, key: string) => in_.set(key, (in_.get(key) ?? 0) + 1);
  const work = async (): Promise<void> => {
    while (!isStopped) {
      for (const key of keys) note(calls, key);
      try {
        const { failures } = await counters.add(batch(keys.map((key) => increment(key))));
        keys.forEach((key, at) => {
          const failure = failures?.get(at);
          if (failure !== undefined) errors.push(failure);
          else note(answered, key);
        });
        if (failures !== undefined) await delay(5);
      } catch (error) {
        errors.push(error as StoreError);
        await delay(5);
      }
    }
  };
  const done = Promise.all([work(), work(), work(), work()]);
  return {
    answered,
    calls,
    errors,
    async stop() {
      isStopped = true;
      await done;
    },
  };
}

async function expectExact({ answered, calls }: ReturnType<typeof hammer>): Promise<void> {
  for (const [key, least] of answered) {
    const { client } = await cluster.ownerOf(key);
    const count = Number(await client.get(key));
    expect(count).toBeGreaterThanOrEqual(least);
    expect(count).toBeLessThanOrEqual(calls.get(key) ?? 0);
    expect(await client.ttl(key)).toBeGreaterThan(0);
  }
}

describe.each([
  ['by script', true],
  ['by plain commands', false],
])('a slot that moves under load, %s', (_, scripts) => {
  it('loses and doubles nothing, and fails nothing', async () => {
    const counters = await connected({ ...SERVICE, scripts });
    const [from, to] = cluster.masters as [RedisServer, RedisServer];
    const [moving = '', other = ''] = await keysOf(from, 2);
    const sibling = `{${moving}}_new`;
    const load = hammer(counters, [moving, other, ...(await keysOf(to, 1))]);
    await eventually(() => {
      expect(load.answered.get(moving) ?? 0).toBeGreaterThan(20);
    });
    const move = await cluster.beginMoving(moving, to);
    // The slot is on its way: a key that is not there yet is made at its new place (ASK).
    expect((await counters.add(batch([increment(sibling), increment(sibling)]))).after).toEqual([
      1, 2,
    ]);
    expect(await from.client.exists(sibling).catch(String)).toMatch(/ASK|0/);
    const before = load.answered.get(moving) ?? 0;
    await eventually(() => {
      expect(load.answered.get(moving) ?? 0).toBeGreaterThan(before + 20);
    });
    await move.moveKeys();
    await move.finish();
    const later = load.answered.get(moving) ?? 0;
    await eventually(() => {
      expect(load.answered.get(moving) ?? 0).toBeGreaterThan(later + 20);
    });
    await load.stop();
    expect(load.errors).toEqual([]);
    expect(await cluster.ownerOf(moving)).toBe(to);
    expect(Number(await to.client.get(moving))).toBe(load.answered.get(moving));
    await expectExact(load);
    await eventually(() => {
      expect(counters.kinds().filter((kind) => kind === 'slots-changed')).toHaveLength(2);
    });
  });
});

describe('a slot that moves, under an algorithm', () => {
  it('takes its counters along: each ask is charged once, where the key is', async () => {
    const counters = await connected();
    const [from, to] = cluster.masters as [RedisServer, RedisServer];
    const rule = slowRule('gcra', 1_000_000);
    const [moving = ''] = await keysOf(from, 1);
    const others = (await keysOf(to, 2)).map((key) => `{${key}}`);
    const keys = [`{${moving}}`, `{${moving}}_new`, ...others];
    const asked = () => batch(keys.flatMap((key) => [ask(rule, key), increment(key)]));
    let rounds = 0;
    const isKnown = async () => {
      const { failures, states, after } = await counters.add(asked());
      expect(failures).toBeUndefined();
      rounds += 1;
      keys.forEach((_, at) => {
        expect(after[2 * at + 1]).toBe(rounds);
        expect(states?.[2 * at]).toBeDefined();
      });
    };
    await isKnown();
    const move = await cluster.beginMoving(moving, to);
    await isKnown();
    await move.moveKeys();
    await isKnown();
    await move.finish();
    for (let round = 0; round < 3; round += 1) await isKnown();
    for (const key of keys) {
      const { client } = await cluster.ownerOf(key);
      const [used] = (await client.get(keyFor(rule, key)))?.split(' ').map(Number) ?? [];
      expect(Math.ceil((used ?? 0) / rule.periodTicks)).toBe(rounds);
    }
  });
});

describe('answers of nodes', () => {
  it('NOSCRIPT: the script is sent again and nothing is counted twice', async () => {
    const counters = await connected();
    const keys = Array.from({ length: 30 }, () => freshKey());
    await Promise.all(cluster.masters.map(({ client }) => client.script('FLUSH')));
    const { after } = await counters.add(batch(keys.map((key) => increment(key))));
    expect(after).toEqual(keys.map(() => 1));
    const runs = keys.map((_, at) => at + 1);
    const again = await counters.add(
      batch(
        keys.map((key) => increment(key)),
        runs,
      ),
    );
    expect(again.after).toEqual(keys.map(() => 2));
  });

  it('OOM and WRONGTYPE fail what they are about', async () => {
    const counters = await connected();
    const [full, fine] = cluster.masters as [RedisServer, RedisServer];
    const [a = '', wrong = '', b = ''] = [...(await keysOf(full, 1)), ...(await keysOf(fine, 2))];
    await full.client.config('SET', 'maxmemory', '100kb');
    await fine.client.lpush(wrong, 'x');
    const { after, failures } = await counters.add(
      batch([a, wrong, b].map((key) => increment(key))),
    );
    expect(after[2]).toBe(1);
    expect(failures?.get(0)?.message).toMatch(/answered: .*OOM/);
    expect(failures?.get(1)?.message).toMatch(/answered: WRONGTYPE/);
    await full.client.config('SET', 'maxmemory', '0');
    expect(counters.states).toEqual([false, true]);
  });
});

describe('batches', () => {
  it('ask each node once', async () => {
    const counters = await connected();
    const keys = Array.from({ length: 300 }, () => freshKey());
    // A cluster is connected when one of its nodes is, and a node that connects has calls of its own.
    await counters.add(batch(keys.map((key) => increment(key))));
    await Promise.all(cluster.masters.map(({ client }) => client.config('RESETSTAT')));
    await counters.add(batch(keys.map((key) => increment(key))));
    const infos = await Promise.all(
      cluster.masters.map(({ client }) => client.info('commandstats')),
    );
    const calls = infos.map((info) => /cmdstat_evalsha:calls=(\d+)/.exec(info)?.[1]);
    expect(calls).toEqual(cluster.masters.map(() => '1'));
  });

  it('hold back atomically where a run lies on one node, and say once when it does not', async () => {
    const counters = await connected();
    const [one, two] = cluster.masters as [RedisServer, RedisServer];
    const [a = '', b = ''] = await keysOf(one, 2);
    const [c = ''] = await keysOf(two, 1);
    await counters.add(batch([increment(a, 10), increment(c, 10)]));
    expect(await counters.add(batch([increment(a), increment(b)], [2]))).toMatchObject({
      after: [11, 0],
      held: [false, true],
    });
    expect(counters.kinds()).not.toContain('hold-back-not-atomic');
    for (const after of [11, 12])
      expect(await counters.add(batch([increment(c), increment(b)], [2]))).toMatchObject({
        after: [after, 0],
        held: [false, true],
      });
    expect(counters.kinds().filter((kind) => kind === 'hold-back-not-atomic')).toHaveLength(1);
    expect(await one.client.exists(b)).toBe(0);
  });
});

it('knows the slot of every key as the server does', async () => {
  const { client } = cluster.masters[0] as RedisServer;
  const keys = [
    '',
    'a',
    '{a}b',
    'x{a}',
    '{}a',
    'a{',
    'a{b',
    'a{}{b}',
    'grüße_🦊',
    'a{ü}',
    '}{a}',
    '\0',
  ];
  for (const key of keys)
    expect([key, slotOf(key)]).toEqual([key, await client.cluster('KEYSLOT', key)]);
});
