import { lastValueFrom } from 'rxjs';
import { createRedisStore } from '../../src/identity/store/redis/create-redis-store';
import type { IdentityStore } from '../../src/identity/store/store';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { silentLogger } from '../support/silent-logger';
import { identityStoreContract } from './identity-store.contract';

let server: RedisServer;

beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

identityStoreContract('in Redis', async () => {
  await server.client.flushall();
  const running: { store: IdentityStore; ended: Promise<unknown> }[] = [];
  const open = async (): Promise<IdentityStore> => {
    const deps = { monotonicMs: () => performance.now(), nowMs: Date.now, logger: silentLogger };
    const { address } = server;
    const options = {
      address,
      auth: undefined,
      sentinelAuth: undefined,
      tls: undefined,
      timeoutMs: 10_000,
    };
    const store = createRedisStore(deps, options);
    await store.open();
    running.push({ store, ended: lastValueFrom(store.run$, { defaultValue: undefined }) });
    return store;
  };
  return {
    store: await open(),
    openOther: open,
    async dump() {
      const keys = await server.client.keys('*');
      const texts = keys.filter((key) => !/users$|sessions-of|api-keys/.test(key));
      return (await server.client.mget(texts)).join('\n');
    },
    async stop() {
      for (const { store, ended } of running) {
        await store.close();
        await ended;
      }
    },
  };
});
