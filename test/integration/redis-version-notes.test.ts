import { noteVersions } from '../../src/counters/redis/notes';
import { startRedisCluster } from '../support/edge/redis-cluster';
import { runRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { startRedisServer } from '../support/edge/redis-server';

const started: { stop(): Promise<unknown> }[] = [];
afterEach(async () => {
  await stopRedisCounters();
  await Promise.all(started.splice(0).map((each) => each.stop()));
});

const KEY = 'weir:time_zones';
const note = (...versions: readonly string[]) => ({ key: KEY, versions, ttlSeconds: 300 });

async function startServer() {
  const server = await startRedisServer();
  started.push(server);
  const counters = runRedisCounters({ address: server.address });
  await counters.untilConnected();
  return { server, counters };
}

describe('versions that instances write beside their counters', () => {
  it('are told to each other, for as long as each goes on writing', async () => {
    const { server, counters } = await startServer();
    expect(await noteVersions(counters, note('2026f'))).toEqual(['2026f']);
    expect(await noteVersions(counters, note('2025c', '2025b'))).toEqual([
      ...['2025b', '2025c', '2026f'],
    ]);
    expect(await noteVersions(counters, note('2026f'))).toEqual(['2025b', '2025c', '2026f']);
    expect(await server.client.ttl(KEY)).toBeGreaterThan(290);
    const now = Math.floor(Date.now() / 1_000);
    await server.client.set(KEY, `2025c@${String(now - 301)} 2025b@${String(now - 290)}`);
    expect(await noteVersions(counters, note('2026f'))).toEqual(['2025b', '2026f']);
  });

  it('are bounded, and what is no note counts for nothing', async () => {
    const { server, counters } = await startServer();
    const now = String(Math.floor(Date.now() / 1_000));
    const many = Array.from({ length: 5_000 }, (_, at) => `v${String(at)}@${now}`).join(' ');
    await server.client.set(
      KEY,
      `x 2025c@ @${now} ${'v'.repeat(99)}@${now} far@99999999999 ${many}`,
    );
    const found = await noteVersions(counters, note('2026f'));
    expect(found.length).toBeLessThanOrEqual(33);
    expect(found).not.toContain('far');
    expect((await server.client.get(KEY))?.length).toBeLessThan(1_000);
  });

  it('fail where the key holds something else', async () => {
    const { server, counters } = await startServer();
    await server.client.sadd(KEY, 'a');
    await expect(noteVersions(counters, note('2026f'))).rejects.toThrow('WRONGTYPE');
  });

  it('lie on the node of a cluster that owns their slot', async () => {
    const cluster = await startRedisCluster();
    started.push(cluster);
    const counters = runRedisCounters({ address: cluster.address });
    await counters.untilConnected();
    await noteVersions(counters, note('2025c'));
    expect(await noteVersions(counters, note('2026f'))).toEqual(['2025c', '2026f']);
  });
});
