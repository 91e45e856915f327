import {
  ONE_RULE,
  askAll,
  expectToWithstand,
  startSmallService,
  stopSmallServices,
} from '../../support/small-service';
import { startMemcachedServer } from '../../support/memcached-server';

/** What a store is asked for. */

const ends: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  await stopSmallServices();
  for (const end of ends.splice(0)) await end();
});

it('answers others while 40,000 descriptors are looked up in memcached', async () => {
  const memcached = await startMemcachedServer();
  ends.push(() => memcached.stop());
  const service = await startSmallService(ONE_RULE, {
    BACKEND_TYPE: 'memcache',
    MEMCACHE_HOST_PORT: `127.0.0.1:${String(memcached.port)}`,
  });
  const descriptors = Array.from({ length: 40_000 }, (_, at) => ({
    entries: [{ key: 'k', value: String(at) }],
  }));
  await expectToWithstand(service, async () => {
    await askAll(service, 2, () => ({ domain: 'd', descriptors }), 1);
    return undefined;
  });
});
