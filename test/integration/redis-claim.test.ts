import { claimText } from '../../src/counters/redis/notes';
import { startRedisCluster, type RedisCluster } from '../support/edge/redis-cluster';
import { runRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { startSentinels, type SentinelSetup } from '../support/edge/redis-sentinels';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';

const started: (RedisServer | RedisCluster | SentinelSetup)[] = [];
afterEach(async () => {
  await stopRedisCounters();
  await Promise.all(started.splice(0).map((each) => each.stop()));
});

async function keep<T extends (typeof started)[number]>(starting: Promise<T>): Promise<T> {
  const each = await starting;
  started.push(each);
  return each;
}

const claim = (text: string, ttlSeconds = 600) => ({ key: 'weir:key:1', text, ttlSeconds });

describe('a text that the first of several instances claims', () => {
  it('is held by one server, and lives longer by each claim of the same text alone', async () => {
    const server = await keep(startRedisServer());
    const counters = runRedisCounters({ address: server.address });
    await counters.untilConnected();
    expect(await claimText(counters, claim('first', 100))).toBe('first');
    expect(await claimText(counters, claim('second', 900))).toBe('first');
    expect(await server.client.ttl('weir:key:1')).toBeLessThanOrEqual(100);
    expect(await claimText(counters, claim('first', 900))).toBe('first');
    expect(await server.client.ttl('weir:key:1')).toBeGreaterThan(100);
  });

  it('is an error where the key holds something else', async () => {
    const server = await keep(startRedisServer());
    await server.client.sadd('weir:key:1', 'a');
    const counters = runRedisCounters({ address: server.address });
    await counters.untilConnected();
    await expect(claimText(counters, claim('first'))).rejects.toThrow('WRONGTYPE');
  });

  it('is held by the master that sentinels name', async () => {
    const setup = await keep(startSentinels());
    const counters = runRedisCounters({ address: setup.address });
    await expect(claimText(counters, claim('first'))).rejects.toThrow(/sentinel|master/);
    await counters.untilConnected();
    expect(await claimText(counters, claim('first'))).toBe('first');
    expect(await claimText(counters, claim('second'))).toBe('first');
  });

  it('is held by the node of a cluster that owns its slot', async () => {
    const cluster = await keep(startRedisCluster());
    const counters = runRedisCounters({ address: cluster.address });
    await expect(claimText(counters, claim('first'))).rejects.toThrow('cluster');
    await counters.untilConnected();
    expect(await claimText(counters, claim('first'))).toBe('first');
    expect(await claimText(counters, claim('second'))).toBe('first');
  });
});
