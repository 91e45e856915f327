/** TLS of the service's cluster, as files. */
export interface EnvoyTls {
  readonly caFile: string;
  readonly serverName: string;
  readonly client?: { readonly certFile: string; readonly keyFile: string } | undefined;
}

export interface EnvoyOptions {
  /** The service, `host:port`. */
  readonly service: string;
  readonly client?: 'envoy_grpc' | 'google_grpc';
  /** How long Envoy waits for an answer. Default 5 s: this is about answers, not about speed. */
  readonly timeoutMs?: number;
  readonly denyOnFailure?: boolean;
  readonly tls?: EnvoyTls | undefined;
  /** PING of the connection at this interval. */
  readonly keepaliveMs?: number;
  readonly headerTableSize?: number;
  /** Envoy's own `x-ratelimit-*`; default true. */
  readonly ownHeaders?: boolean;
  /** Envoy's own `Retry-After`, which not every version knows; default false. */
  readonly ownRetryAfter?: boolean;
  /** Fields of its filter beside those above. */
  readonly filter?: object;
  /** The domain of its calls; default `edge`. */
  readonly domain?: string;
  /** `rate_limits` of its route; default: the header `x-user` as `user=…`. */
  readonly rateLimits?: readonly object[];
}

const TYPE = 'type.googleapis.com/envoy';
const LOCAL = '127.0.0.1';

/** The counters of the filter are on the upstream's cluster. */
export const FILTER_COUNTERS = 'cluster.upstream.ratelimit';

/** An Envoy in front of itself: one listener that is limited, one that answers 200. */
export function toEnvoyConfig(options: EnvoyOptions, port: number, upstreamPort: number): object {
  const upstream = { prefix: '/' };
  return {
    admin: { address: address(LOCAL, 0) },
    static_resources: {
      listeners: [
        listener('limited', port, limitedRoute(options), [rateLimitFilter(options)]),
        listener('upstream', upstreamPort, {
          match: upstream,
          direct_response: { status: 200, body: { inline_string: 'up' } },
        }),
      ],
      clusters: [cluster('upstream', LOCAL, upstreamPort, {}), serviceCluster(options)],
    },
  };
}

const BY_USER = { request_headers: { header_name: 'x-user', descriptor_key: 'user' } };

function limitedRoute({ rateLimits = [{ actions: [BY_USER] }] }: EnvoyOptions): object {
  const route = { cluster: 'upstream', rate_limits: rateLimits };
  return { match: { prefix: '/a' }, route };
}

function rateLimitFilter(options: EnvoyOptions) {
  const { client, timeoutMs = 5_000, denyOnFailure, ownHeaders = true, ownRetryAfter } = options;
  const target =
    client === 'google_grpc' ? googleGrpc(options) : { envoy_grpc: { cluster_name: 'ratelimit' } };
  return {
    name: 'rl',
    typed_config: {
      '@type': `${TYPE}.extensions.filters.http.ratelimit.v3.RateLimit`,
      domain: options.domain ?? 'edge',
      timeout: seconds(timeoutMs),
      failure_mode_deny: denyOnFailure ?? false,
      ...(ownHeaders && { enable_x_ratelimit_headers: 'DRAFT_VERSION_03' }),
      ...(ownRetryAfter && { enable_retry_after_header: true }),
      ...options.filter,
      rate_limit_service: { transport_api_version: 'V3', grpc_service: target },
    },
  };
}

/** gRPC's own library in Envoy, which knows nothing of Envoy's clusters. */
function googleGrpc({ service, tls }: EnvoyOptions): object {
  const channel = { target_uri: service, stat_prefix: 'rl' };
  if (tls === undefined) return { google_grpc: channel };
  const ssl = {
    root_certs: { filename: tls.caFile },
    ...(tls.client && {
      private_key: { filename: tls.client.keyFile },
      cert_chain: { filename: tls.client.certFile },
    }),
  };
  const name = { 'grpc.ssl_target_name_override': { string_value: tls.serverName } };
  return {
    google_grpc: {
      ...channel,
      channel_credentials: { ssl_credentials: ssl },
      channel_args: { args: name },
    },
  };
}

function listener(name: string, port: number, route: object, filters: readonly object[] = []) {
  const router = {
    name: 'router',
    typed_config: { '@type': `${TYPE}.extensions.filters.http.router.v3.Router` },
  };
  const manager = {
    '@type': `${TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: name,
    route_config: { virtual_hosts: [{ name, domains: ['*'], routes: [route] }] },
    http_filters: [...filters, router],
  };
  return {
    name,
    address: address(LOCAL, port),
    filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
  };
}

function serviceCluster({ service, tls, keepaliveMs, headerTableSize }: EnvoyOptions): object {
  const [host = '', port = ''] = service.split(':');
  const http2 = {
    ...(headerTableSize !== undefined && { hpack_table_size: headerTableSize }),
    ...(keepaliveMs !== undefined && {
      connection_keepalive: { interval: seconds(keepaliveMs), timeout: '10s' },
    }),
  };
  return cluster('ratelimit', host, Number(port), {
    connect_timeout: '5s',
    typed_extension_protocol_options: {
      'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
        '@type': `${TYPE}.extensions.upstreams.http.v3.HttpProtocolOptions`,
        explicit_http_config: { http2_protocol_options: http2 },
      },
    },
    ...(tls !== undefined && { transport_socket: tlsSocket(tls) }),
  });
}

function tlsSocket({ caFile, serverName, client }: EnvoyTls): object {
  const certificate = client && {
    certificate_chain: { filename: client.certFile },
    private_key: { filename: client.keyFile },
  };
  const names = [{ san_type: 'DNS', matcher: { exact: serverName } }];
  return {
    name: 'tls',
    typed_config: {
      '@type': `${TYPE}.extensions.transport_sockets.tls.v3.UpstreamTlsContext`,
      sni: serverName,
      common_tls_context: {
        alpn_protocols: ['h2'],
        ...(certificate && { tls_certificates: [certificate] }),
        validation_context: {
          trusted_ca: { filename: caFile },
          match_typed_subject_alt_names: names,
        },
      },
    },
  };
}

function cluster(name: string, host: string, port: number, more: object): object {
  const endpoint = { endpoint: { address: address(host, port) } };
  return {
    name,
    type: 'STATIC',
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [endpoint] }] },
    ...more,
  };
}

function address(host: string, port: number): object {
  return { socket_address: { address: host, port_value: port } };
}

function seconds(ms: number): string {
  return `${String(ms / 1000)}s`;
}
