// What a further core brings: calls a second, CPU of the owner and of the workers for a call, and p99, for 1, 2, 4 and 8 workers, each on
// a core of its own, with Redis on another one and the callers on the rest:
//   npm run build && npm run build:bench && node scripts/bench-cores.mjs
//   node scripts/bench-cores.mjs --pack cores.tar.xz    with Node, Redis and the build, for a machine that has none of them:
//                                                       tar xf cores.tar.xz && ./cores/run
// It needs Linux and `taskset`. Some four minutes on 16 cores; numbers of workers for which there are too few cores are left out.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism, cpus, release, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const GENERATOR = join(ROOT, '.cache/bench/test/bench/generator.js');
const SERVICE = join(ROOT, 'dist/src/bin/ratelimit.js');
const WORKERS = [1, 2, 4, 8];
const ROUNDS = 3;
/** Of each caller process, of which there is one for each worker: a call costs the worker more than the caller. */
const CONNECTIONS = 100;
const IN_FLIGHT = 1;
const REQUESTS = 200_000;
const WARM_UP = 20_000;
const KEYS = 10_000;

if (process.argv[2] === '--pack') pack(process.argv[3] ?? 'cores.tar.xz');
else await main();

async function main() {
  const missing = [GENERATOR, SERVICE].filter((file) => !existsSync(file));
  if (missing.length > 0)
    stop(`${missing.join(' and ')} are missing: npm run build && npm run build:bench`);
  const cores = availableParallelism();
  if (cores < 2) stop('one core is too few: the callers need another one');
  console.log(`${cores} × ${cpus()[0].model}, Linux ${release()}, node ${process.version}\n`);
  console.log(
    '| workers | cores of the callers | calls a second | for one worker | owner, µs a call | workers, µs a call | Redis, µs a call | Redis, busy | p99, ms |',
  );
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |');
  const places = WORKERS.map((workers) => placeOf(workers, cores)).filter(Boolean);
  const all = new Map(places.map(({ workers }) => [workers, []]));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const place of places) {
      process.stderr.write(`round ${round + 1} of ${ROUNDS}, ${place.workers} workers\n`);
      all.get(place.workers).push(await measure(place));
    }
  const alone = median(all.get(1).map(({ perSecond }) => perSecond));
  for (const { workers, callers, isShared } of places) {
    const of = (figure) => median(all.get(workers).map((one) => one[figure]));
    const perSecond = of('perSecond');
    console.log(
      `| ${[
        workers,
        isShared ? 'one, with Redis' : callers.length,
        Math.round(perSecond).toLocaleString('en'),
        (perSecond / workers / alone).toFixed(2),
        of('ownerMicros').toFixed(2),
        of('workersMicros').toFixed(2),
        of('redisMicros').toFixed(2),
        `${((of('redisMicros') * perSecond) / 10_000).toFixed(0)} %`,
        of('p99Ms').toFixed(2),
      ].join(' | ')} |`,
    );
  }
  const left = WORKERS.filter((workers) => !places.some((place) => place.workers === workers));
  if (left.length > 0)
    console.log(
      `\n${left.join(' and ')} workers are left out: they need ${left.map(coresFor).join(' and ')} cores.`,
    );
}

/** A core for each worker, one for Redis, and for the callers as many as for the workers, or nearly. */
function coresFor(workers) {
  return workers + 1 + Math.ceil(0.8 * workers);
}

function placeOf(workers, cores) {
  const numbers = Array.from({ length: cores }, (_, core) => core);
  const isShared = cores === 2;
  if (isShared && workers === 1) return { workers, service: [0], redis: 1, callers: [1], isShared };
  if (coresFor(workers) > cores) return undefined;
  return {
    workers,
    service: numbers.slice(0, workers),
    redis: workers,
    callers: numbers.slice(workers + 1, 2 * workers + 1),
    isShared: false,
  };
}

async function measure({ workers, service, redis, callers }) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-cores-'));
  const ended = [];
  const end = (child) => {
    ended.push(once(child, 'exit'));
    child.kill('SIGTERM');
  };
  const [redisPort, grpc, http, debug] = await Promise.all([1, 2, 3, 4].map(freePort));
  const [redisCommand, ...redisWords] = redisServer();
  const store = onCores([redis], redisCommand, [
    ...redisWords,
    ...['--port', redisPort, '--save', '', '--appendonly', 'no', '--dir', folder],
  ]);
  const server = startService(folder, { workers, service, redisPort, grpc, http, debug });
  try {
    await untilHealthy(server, http);
    const pids = [store.pid, server.pid, ...childrenOf(server.pid)];
    await load(callers, grpc, WARM_UP);
    const before = pids.map(cpuMicros);
    const { calls, seconds, p99Ms } = await load(callers, grpc, REQUESTS);
    const used = pids.map((pid, at) => (cpuMicros(pid) - before[at]) / calls);
    const [redisMicros, owner, ...others] = used;
    return {
      perSecond: calls / seconds,
      redisMicros,
      ownerMicros: workers === 1 ? 0 : owner,
      workersMicros: workers === 1 ? owner : others.reduce((sum, one) => sum + one, 0),
      p99Ms,
    };
  } finally {
    end(server);
    await Promise.all(ended);
    end(store);
    await Promise.all(ended);
    rmSync(folder, { recursive: true, force: true });
  }
}

function startService(folder, { workers, service, redisPort, grpc, http, debug }) {
  mkdirSync(join(folder, 'runtime/config'), { recursive: true });
  const rule = '{ key: user, rate_limit: { unit: day, requests_per_unit: 4000000000 } }';
  writeFileSync(
    join(folder, 'runtime/config/edge.yaml'),
    `domain: edge\ndescriptors:\n  - ${rule}\n`,
  );
  const env = {
    PATH: process.env.PATH,
    ...{ HOST: '127.0.0.1', GRPC_HOST: '127.0.0.1', DEBUG_HOST: '127.0.0.1' },
    ...{ PORT: http, GRPC_PORT: grpc, DEBUG_PORT: debug, RUNTIME_ROOT: join(folder, 'runtime') },
    ...{ BACKEND_TYPE: 'redis', REDIS_URL: `127.0.0.1:${redisPort}`, DISABLE_STATS: 'true' },
    ...{ WORKERS: workers, LOG_LEVEL: 'error' },
  };
  return onCores(service, process.execPath, [SERVICE], env);
}

/** Callers on each of these cores, so many calls each, as fast as answers come. */
async function load(cores, port, requests) {
  const reports = await Promise.all(
    cores.map(async (core) => {
      const order = {
        ...{ host: '127.0.0.1', port, connections: CONNECTIONS, inFlight: IN_FLIGHT, requests },
        ...{ perSecond: 0, keys: KEYS, varied: true },
      };
      const child = onCores([core], process.execPath, [GENERATOR, JSON.stringify(order)]);
      let output = '';
      child.stdout.on('data', (chunk) => (output += chunk));
      await once(child, 'close');
      return JSON.parse(output);
    }),
  );
  const wrong = reports.filter(({ ok }) => ok !== requests);
  if (wrong.length > 0) stop(`of ${requests} calls ${wrong[0].ok} were answered`);
  return {
    calls: requests * reports.length,
    seconds: Math.max(...reports.map(({ seconds }) => seconds)),
    p99Ms: Math.max(...reports.map(({ latencyMs }) => latencyMs[1])),
  };
}

function onCores(cores, command, words, env = process.env) {
  return spawn('taskset', ['-c', cores.join(','), command, ...words.map(String)], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** The server of the pack, or that of the system. */
function redisServer() {
  const carried = join(ROOT, 'redis/redis-server');
  if (!existsSync(carried)) return ['redis-server'];
  const loader = readdirSync(join(ROOT, 'redis')).find((name) => name.startsWith('ld-linux'));
  return [join(ROOT, 'redis', loader), '--library-path', join(ROOT, 'redis'), carried];
}

async function untilHealthy(child, port) {
  for (let tries = 0; tries < 400; tries += 1) {
    if (child.exitCode !== null) stop('the service ended at once');
    const isHealthy = await fetch(`http://127.0.0.1:${port}/healthcheck`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isHealthy) return;
    await delay(50);
  }
  stop('the service did not become healthy within 20 s');
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

function childrenOf(pid) {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text.split(' ').filter(Boolean).map(Number);
}

/** CPU of all threads of a process, by the account of the scheduler. */
function cpuMicros(pid) {
  const nanos = readdirSync(`/proc/${pid}/task`).map((task) =>
    Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
  );
  return nanos.reduce((sum, one) => sum + one, 0) / 1_000;
}

function median(values) {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** One file with everything. */
function pack(file) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-cores-'));
  const cores = join(folder, 'cores');
  for (const part of ['dist', '.cache/bench', 'package.json', 'scripts/bench-cores.mjs', 'proto'])
    cpSync(join(ROOT, part), join(cores, part), { recursive: true, dereference: true });
  const print = (command, words) => execFileSync(command, words, { cwd: ROOT, encoding: 'utf8' });
  const packages = print('npm', ['ls', '--omit=dev', '--all', '--parseable']).trim().split('\n');
  for (const path of packages.filter((one) => one.includes('node_modules')))
    cpSync(path, join(cores, path.slice(ROOT.length)), { recursive: true, dereference: true });
  mkdirSync(join(cores, 'redis'));
  const redis = print('which', ['redis-server']).trim();
  cpSync(redis, join(cores, 'redis/redis-server'), { dereference: true });
  for (const [library] of print('ldd', [redis]).matchAll(/\/\S+/g))
    cpSync(library, join(cores, 'redis', basename(library)), { dereference: true });
  cpSync(process.execPath, join(cores, 'node'), { dereference: true });
  execFileSync('strip', [join(cores, 'node')]);
  writeFileSync(
    join(cores, 'run'),
    '#!/bin/sh\ncd "$(dirname "$0")" && exec ./node scripts/bench-cores.mjs\n',
  );
  chmodSync(join(cores, 'run'), 0o755);
  execFileSync('tar', ['-C', folder, '-cJf', file, 'cores']);
  rmSync(folder, { recursive: true });
  console.log(`${file}: unpack it, and start cores/run`);
}

function stop(message) {
  console.error(message);
  process.exit(1);
}
