import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startRedisCluster } from '../support/redis-cluster';
import { startRedisServer, type RedisServer } from '../support/redis-server';

const PROCESSES = 8;
/** `WEIR_HITS=100000` makes the full run of it in a cluster too. */
const HITS = { single: 100_000, cluster: Number(process.env['WEIR_HITS'] ?? 20_000) };
const HITTER = join(__dirname, '../support/redis-hitter.cjs');
const KEY = 'everybody_hits_this_1795240200';

jest.setTimeout(300_000);

const run = promisify(execFile);

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const hitsOf = (kind: keyof typeof HITS) => PROCESSES * HITS[kind];
const limitOf = (kind: keyof typeof HITS) => Math.floor(hitsOf(kind) / 3);

async function hitTogether(
  port: number,
  kind: keyof typeof HITS,
  { key = KEY, algorithm }: { readonly key?: string; readonly algorithm?: readonly string[] } = {},
): Promise<number> {
  const numbers = [String(HITS[kind]), String(limitOf(kind))] as const;
  const place = algorithm === undefined ? [kind] : ['single', ...algorithm];
  const parameters = [HITTER, String(port), key, ...numbers, ...place];
  const outputs = await Promise.all(
    Array.from({ length: PROCESSES }, () => run(process.execPath, parameters)),
  );
  return outputs.reduce((sum, { stdout }) => sum + Number(stdout), 0);
}

describe('several processes that hit one key', () => {
  it('are counted exactly, and exactly the limit is admitted', async () => {
    const server = await startRedisServer();
    ends.push(() => server.stop());
    const admitted = await hitTogether(server.port, 'single');
    const count = await server.client.get(KEY);
    expect([Number(count), admitted]).toEqual([hitsOf('single'), limitOf('single')]);
  });

  it.each([
    ['gcra', '', '80000000s~g'],
    ['gcra', 'charge_denied', '80000000s~g'],
    ['sliding_window', '', '80000000s~s'],
    ['sliding_window', 'charge_denied', '80000000s~s'],
    ['fixed_window', '', '1795240200'],
  ])('are admitted exactly as %s promises %s', async (name, charging, end) => {
    const server = await startRedisServer();
    ends.push(() => server.stop());
    const key = `everybody_asks_this_${end}`;
    const algorithm = [name, charging];
    const admitted = await hitTogether(server.port, 'cluster', { key, algorithm });
    expect(admitted).toBe(limitOf('cluster'));
  });

  it('are counted exactly in a cluster', async () => {
    const cluster = await startRedisCluster();
    ends.push(() => cluster.stop());
    const [seed] = cluster.masters as [RedisServer];
    const admitted = await hitTogether(seed.port, 'cluster');
    const count = await (await cluster.ownerOf(KEY)).client.get(KEY);
    expect([Number(count), admitted]).toEqual([hitsOf('cluster'), limitOf('cluster')]);
  });
});
