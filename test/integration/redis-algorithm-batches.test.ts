import { counterStates } from '../support/limiters';
import { StoreError } from '../../src/core/errors';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { ask, keyFor, slowRule, usedHits } from '../support/algorithm-increments';
import { runRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';

const UNKNOWN = 'ratelimit.service.call.should_rate_limit.store_unknown_outcome';

const gcra = slowRule('gcra');
const sliding = slowRule('sliding_window');
const servers: RedisServer[] = [];

afterEach(async () => {
  await stopRedisCounters();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function started(options: Partial<Parameters<typeof runRedisCounters>[0]> = {}) {
  const server = await startRedisServer();
  servers.push(server);
  const counters = runRedisCounters({ address: server.address, ...options });
  await counters.untilConnected();
  return { server, counters };
}

/** Calls of each command since the statistics were set back. */
async function callsOf({ client }: RedisServer, command: string): Promise<number> {
  const info = await client.info('commandstats');
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(info)?.[1] ?? 0);
}

describe('a batch', () => {
  it('without algorithms takes one call, and does not read the clock', async () => {
    const { server, counters } = await started();
    await server.client.config('RESETSTAT');
    await counters.add(batch([increment(freshKey()), increment(freshKey())]));
    const calls = ['evalsha', 'eval', 'time', 'incrby'].map((name) => callsOf(server, name));
    expect(await Promise.all(calls)).toEqual([1, 0, 0, 2]);
  });

  it('with both takes two calls, and one when its requests are decided together', async () => {
    const { server, counters } = await started();
    const asked = () => [increment(freshKey()), ask(gcra, freshKey()), ask(sliding, freshKey())];
    await counters.add(batch(asked()));
    await counters.add(batch(asked(), [3]));
    await server.client.config('RESETSTAT');
    await counters.add(batch(asked()));
    expect(await callsOf(server, 'evalsha')).toBe(2);
    await counters.add(batch(asked(), [3]));
    expect(await callsOf(server, 'evalsha')).toBe(3);
  });

  it('fails a counter alone whose value is of another kind', async () => {
    const { counters } = await started();
    const [odd, good] = [freshKey(), freshKey()];
    await counters.add(batch([increment(keyFor(gcra, odd), 5)]));
    const reply = await counters.add(batch([ask(gcra, odd), ask(gcra, good)]));
    expect([...(reply.failures?.keys() ?? [])]).toEqual([0]);
    expect(reply.failures?.get(0)).toMatchObject({ fault: 'key' });
    expect(counterStates(reply.states)?.[1]?.used).toBe(0);
  });

  it('fails alone what is wrong with one of its two calls', async () => {
    const { server, counters } = await started();
    await server.client.acl('SETUSER', 'default', '-time');
    const reply = await counters.add(batch([ask(gcra, freshKey()), increment(freshKey(), 3)]));
    expect(reply.after[1]).toBe(3);
    expect([...(reply.failures ?? [])].map(([at, { message }]) => [at, message])).toEqual([
      [0, expect.stringContaining('ERR the clock of the server')],
    ]);
  });

  it('counts more than one call may hold', async () => {
    const { counters } = await started();
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
});

describe('a store without scripts', () => {
  const NEEDED = 'this rule needs scripts, and the store does not accept them';

  it('fails what has an algorithm, counts the rest, and says so once', async () => {
    const { counters } = await started({ scripts: false });
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

  it('is noticed while it is in use', async () => {
    const { server, counters } = await started();
    await server.client.call('ACL', 'SETUSER', 'default', '-evalsha', '-eval');
    const reply = await counters.add(batch([ask(gcra, freshKey()), increment(freshKey(), 3)]));
    expect(reply.after[1]).toBe(3);
    expect(reply.failures?.get(0)).toMatchObject({ forCaller: NEEDED });
    expect(counters.kinds()).toEqual(['connected', 'scripts-refused']);
  });

  it('is not one whose access list keeps a key from us: that fails alone', async () => {
    const { server, counters } = await started();
    await server.client.call('ACL', 'SETUSER', 'default', 'resetkeys', '~contract*');
    const keys = ['elsewhere', freshKey()];
    const reply = await counters.add(batch(keys.map((key) => ask(gcra, key))));
    expect([...(reply.failures?.keys() ?? [])]).toEqual([0]);
    expect(counterStates(reply.states)?.[1]?.used).toBe(0);
    expect(counters.kinds()).toEqual(['connected']);
  });
});

describe('a store that dies', () => {
  it('between a look and a charge leaves the charge open, or never counts it', async () => {
    const { server, counters } = await started({ timeoutMs: 1_000 });
    const key = freshKey();
    expect(counterStates((await counters.add(batch([ask(gcra, key, 0)]))).states)?.[0]?.used).toBe(
      0,
    );
    await server.client.client('PAUSE', 60_000, 'ALL').catch(() => undefined);
    const charge = counters.add(batch([ask(gcra, key), increment(freshKey())]));
    const settled = charge.catch((error: unknown) => error as StoreError);
    await server.kill();
    const error = await settled;
    expect(error).toBeInstanceOf(StoreError);
    expect(error).toMatchObject({ code: expect.stringMatching(/^store_/) as string });
    expect(counters.statistics.get(UNKNOWN)).toBe(1);
  });

  it('forgets its scripts when it starts anew, and gets them again', async () => {
    const { server, counters } = await started();
    const key = freshKey();
    await counters.add(batch([ask(gcra, key), ask(sliding, key)]));
    await server.client.script('FLUSH');
    const { states } = await counters.add(batch([ask(gcra, key), ask(sliding, key)]));
    expect([
      usedHits(counterStates(states)?.[0], gcra),
      usedHits(counterStates(states)?.[1], sliding),
    ]).toEqual([1, 1]);
    expect(await server.client.strlen(keyFor(sliding, key))).toBe(2 * 8);
  });
});
