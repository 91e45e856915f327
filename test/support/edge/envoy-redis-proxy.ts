import { startEnvoyWith, type EnvoyProcess } from './envoy';
import { freePort } from '../free-port';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProxy';

export interface RedisProxyOptions {
  readonly protocolVersion?: 'RESP3';
  /** How long it waits for an answer of Redis. Default: as long as nothing has to time out. */
  readonly opTimeoutMs?: number;
}

export interface RedisProxy extends EnvoyProcess {
  readonly port: number;
  /** What `createRedisCounters` takes. */
  readonly address: { readonly kind: 'tcp'; readonly host: string; readonly port: number };
}

const toAddress = (port: number) => ({
  socket_address: { address: '127.0.0.1', port_value: port },
});

/** Envoy's redis_proxy in front of the servers on these ports, by consistent hashing. */
export async function startRedisProxy(
  program: string,
  redisPorts: readonly number[],
  { protocolVersion, opTimeoutMs = 5_000 }: RedisProxyOptions = {},
): Promise<RedisProxy> {
  const port = await freePort();
  const filter = {
    '@type': TYPE,
    stat_prefix: 'redis',
    settings: { op_timeout: `${String(opTimeoutMs / 1_000)}s` },
    prefix_routes: { catch_all_route: { cluster: 'redis' } },
    ...(protocolVersion && { protocol_version: protocolVersion }),
  };
  const endpoints = redisPorts.map((each) => ({ endpoint: { address: toAddress(each) } }));
  const envoy = await startEnvoyWith(
    program,
    JSON.stringify({
      admin: { address: toAddress(0) },
      static_resources: {
        listeners: [
          {
            address: toAddress(port),
            filter_chains: [{ filters: [{ name: 'redis', typed_config: filter }] }],
          },
        ],
        clusters: [
          {
            name: 'redis',
            type: 'STATIC',
            connect_timeout: '1s',
            lb_policy: 'MAGLEV',
            load_assignment: { cluster_name: 'redis', endpoints: [{ lb_endpoints: endpoints }] },
          },
        ],
      },
    }),
  );
  return { ...envoy, port, address: { kind: 'tcp', host: '127.0.0.1', port } };
}
