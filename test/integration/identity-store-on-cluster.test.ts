import { lastValueFrom } from 'rxjs';
import { createRedisStore } from '../../src/identity/store/redis/create-redis-store';
import type { IdentityStore } from '../../src/identity/store/store';
import { startRedisCluster, type RedisCluster } from '../support/edge/redis-cluster';
import { silentLogger } from '../support/silent-logger';
import { identityStoreContract } from './identity-store.contract';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await startRedisCluster();
}, 60_000);
afterAll(() => cluster.stop());

identityStoreContract('in a Redis cluster', async () => {
  for (const { client } of cluster.masters) await client.flushall();
  const running: { store: IdentityStore; ended: Promise<unknown> }[] = [];
  const open = async (): Promise<IdentityStore> => {
    const deps = { monotonicMs: () => performance.now(), nowMs: Date.now, logger: silentLogger };
    const { address } = cluster;
    const nothing = { auth: undefined, sentinelAuth: undefined, tls: undefined };
    const store = createRedisStore(deps, { address, ...nothing, timeoutMs: 10_000 });
    await store.open();
    running.push({ store, ended: lastValueFrom(store.run$, { defaultValue: undefined }) });
    return store;
  };
  return {
    store: await open(),
    openOther: open,
    async dump() {
      const texts: (string | null)[] = [];
      for (const { client } of cluster.masters) {
        for (const key of await client.keys('identity:token:*')) texts.push(await client.get(key));
      }
      return texts.join('\n');
    },
    async stop() {
      for (const { store, ended } of running) {
        await store.close();
        await ended;
      }
    },
  };
});
