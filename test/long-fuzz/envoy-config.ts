interface EnvoyPorts {
  readonly admin: number;
  readonly edge: number;
  readonly upstream: number;
  readonly service: number;
  readonly kind: 'envoy_grpc' | 'google_grpc';
}

const API = 'type.googleapis.com/envoy.extensions';
const socket = (port: number) => ({
  socket_address: { address: '127.0.0.1', port_value: port },
});
const cluster = (name: string, port: number) => ({
  name,
  type: 'STATIC',
  load_assignment: {
    cluster_name: name,
    endpoints: [{ lb_endpoints: [{ endpoint: { address: socket(port) } }] }],
  },
});
const ROUTER = {
  name: 'router',
  typed_config: { '@type': `${API}.filters.http.router.v3.Router` },
};
const listener = (port: number, filters: readonly object[], route: object) => ({
  address: socket(port),
  filter_chains: [
    {
      filters: [
        {
          name: 'http',
          typed_config: {
            '@type': `${API}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
            stat_prefix: 'http',
            route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes: [route] }] },
            http_filters: [...filters, ROUTER],
          },
        },
      ],
    },
  ],
});

/** An Envoy that asks the service about each request by its remote address. */
export function envoyConfig({ admin, edge, upstream, service, kind }: EnvoyPorts): object {
  const target =
    kind === 'envoy_grpc'
      ? { cluster_name: 'ratelimit' }
      : { target_uri: `127.0.0.1:${String(service)}`, stat_prefix: 'rl' };
  const limit = {
    name: 'rl',
    typed_config: {
      '@type': `${API}.filters.http.ratelimit.v3.RateLimit`,
      domain: 'example',
      timeout: '1s',
      enable_x_ratelimit_headers: 'DRAFT_VERSION_03',
      rate_limit_service: { transport_api_version: 'V3', grpc_service: { [kind]: target } },
    },
  };
  const limited = {
    match: { prefix: '/' },
    route: { cluster: 'upstream', rate_limits: [{ actions: [{ remote_address: {} }] }] },
  };
  const answer = { match: { prefix: '/' }, direct_response: { status: 200 } };
  return {
    admin: { address: socket(admin) },
    static_resources: {
      listeners: [listener(edge, [limit], limited), listener(upstream, [], answer)],
      clusters: [
        cluster('upstream', upstream),
        {
          ...cluster('ratelimit', service),
          typed_extension_protocol_options: {
            'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
              '@type': `${API}.upstreams.http.v3.HttpProtocolOptions`,
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
        },
      ],
    },
  };
}
