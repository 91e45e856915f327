import { readFile } from 'node:fs/promises';
import { lastValueFrom } from 'rxjs';
import { createEmbeddedStore } from '../../src/identity/store/embedded/create-embedded-store';
import { createRedisStore } from '../../src/identity/store/redis/create-redis-store';
import type { RedisStoreOptions } from '../../src/identity/store/redis/redis-client';
import type { IdentityStore } from '../../src/identity/store/store';
import { startRedisCluster, type RedisCluster } from '../support/edge/redis-cluster';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { createStoreFile } from '../support/identity';
import { silentLogger } from '../support/silent-logger';
import { identityStoreContract, type StoreHarness } from './identity-store.contract';

jest.setTimeout(60_000);

interface Place {
  readonly create: () => IdentityStore;
  readonly dump: StoreHarness['dump'];
  readonly remove?: () => Promise<void>;
}

/** Stores on one place, which are closed before it goes. */
async function harnessOn({ create, dump, remove }: Place): Promise<StoreHarness> {
  const running: { store: IdentityStore; ended: Promise<unknown> }[] = [];
  const open = async (): Promise<IdentityStore> => {
    const store = create();
    await store.open();
    running.push({ store, ended: lastValueFrom(store.run$, { defaultValue: undefined }) });
    return store;
  };
  return {
    store: await open(),
    openOther: open,
    dump,
    async stop() {
      for (const { store, ended } of running) {
        await store.close();
        await ended;
      }
      await remove?.();
    },
  };
}

identityStoreContract('in a file', async () => {
  const { file, remove } = await createStoreFile();
  const deps = { nowMs: Date.now, logger: silentLogger };
  const create = () => createEmbeddedStore(deps, { file });
  return harnessOn({ create, dump: () => readFile(file, 'utf8'), remove });
});

describe.each<[string, () => Promise<RedisServer | RedisCluster>]>([
  ['Redis', () => startRedisServer()],
  ['a Redis cluster', () => startRedisCluster()],
])('%s', (name, start) => {
  let redis: RedisServer | RedisCluster;
  beforeAll(async () => {
    redis = await start();
  });
  afterAll(() => redis.stop());

  const createOn = (address: RedisStoreOptions['address']) => {
    const deps = { monotonicMs: () => performance.now(), nowMs: Date.now, logger: silentLogger };
    const nothing = { auth: undefined, sentinelAuth: undefined, tls: undefined };
    return createRedisStore(deps, { address, ...nothing, timeoutMs: 10_000 });
  };

  identityStoreContract(`in ${name}`, async () => {
    const clients = 'masters' in redis ? redis.masters.map(({ client }) => client) : [redis.client];
    for (const client of clients) await client.flushall();
    return harnessOn({
      create: () => createOn(redis.address),
      async dump() {
        const texts: (string | null)[] = [];
        for (const client of clients)
          for (const key of await client.keys('identity:token:*'))
            texts.push(await client.get(key));
        return texts.join('\n');
      },
    });
  });
});
