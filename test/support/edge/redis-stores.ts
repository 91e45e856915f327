import type { RedisCountersOptions } from '../../../src/counters/redis/options';
import { startRedisCluster } from './redis-cluster';
import { startSentinels } from './redis-sentinels';
import { startRedisServer, type RedisServer } from './redis-server';

/** Real servers, as a user can run them together. */
export interface RedisStore {
  readonly address: RedisCountersOptions['address'];
  /** How the service is told of it. */
  readonly env: Readonly<Record<string, string>>;
  readonly masters: readonly RedisServer[];
  /** That counts a key. */
  readonly serverOf: (key: string) => Promise<RedisServer>;
  readonly stop: () => Promise<unknown>;
}

export const urlOf = ({ port }: { readonly port: number }) => `127.0.0.1:${String(port)}`;

export const REDIS_STORES = {
  async 'one server'(): Promise<RedisStore> {
    const server = await startRedisServer();
    return {
      address: server.address,
      env: { KVSTORE_URL: urlOf(server) },
      masters: [server],
      serverOf: () => Promise.resolve(server),
      stop: () => server.stop(),
    };
  },
  async sentinels(): Promise<RedisStore> {
    const { address, servers, stop } = await startSentinels();
    const url = [address.masterName, ...address.sentinels.map(urlOf)].join(',');
    return {
      address,
      env: { KVSTORE_TYPE: 'sentinel', KVSTORE_URL: url },
      masters: [servers[0]],
      serverOf: () => Promise.resolve(servers[0]),
      stop,
    };
  },
  async 'a cluster'() {
    const cluster = await startRedisCluster();
    const { address, masters, ownerOf: serverOf, stop } = cluster;
    const url = address.nodes.map(urlOf).join(',');
    const env = { KVSTORE_TYPE: 'cluster', KVSTORE_URL: url, KVSTORE_PIPELINE_WINDOW: '150us' };
    return { address, env, masters, serverOf, stop, cluster };
  },
};
