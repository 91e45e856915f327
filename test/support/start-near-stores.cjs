/**
 * Before `npm test`: one Redis and one memcached for each worker of jest. Their clocks stand where a test puts them: libfaketime reads
 * the time of day from a file. Where one of the programs is missing a line says so, and suites that need the stores are left out;
 * under CI=true that is an error.
 */
const { spawn } = require('node:child_process');
const { existsSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { connect, createServer } = require('node:net');
const { tmpdir } = require('node:os');
const { delimiter, join } = require('node:path');
const { findFakeTime } = require('./fake-time.cjs');

const START = '2027-01-01 00:00:00';
const PORTS = 3;

function findProgram(name) {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** A port that the system gave a moment ago. */
function askPort() {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Waits until the server says `+PONG` or its version; rejects when it has ended. */
function untilAnswering(child, port, question) {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${child.spawnfile} ended with ${code}`)));
    const attempt = () => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', () => setTimeout(attempt, 10));
      socket.once('connect', () => socket.write(question));
      socket.once('data', () => resolve(socket.destroy()));
    };
    attempt();
  });
}

/** Others may take a port between the moment when it was free and the start: then on another one. */
async function start(...words) {
  for (let tries = 1; ; tries += 1) {
    try {
      return await startOnce(...words);
    } catch (error) {
      if (tries === PORTS) throw error;
    }
  }
}

async function startOnce(program, words, question, { fakeTime, folder, preload }) {
  const port = await askPort();
  const clock = join(folder, `clock-${port}`);
  writeFileSync(clock, START);
  const child = spawn(program, words(port), {
    stdio: 'ignore',
    env: {
      ...process.env,
      TZ: 'UTC',
      LD_PRELOAD: [fakeTime, ...preload].join(':'),
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_NO_CACHE: '1',
      // The event loop of Redis needs a clock that goes; its expiry and TIME go by the time of day.
      DONT_FAKE_MONOTONIC: program.includes('redis') ? '1' : '0',
    },
  });
  await untilAnswering(child, port, question);
  return { child, store: { port, clock } };
}

module.exports = async (config) => {
  const programs = {
    'redis-server': findProgram(process.env.WEIR_REDIS_SERVER ?? 'redis-server'),
    memcached: findProgram('memcached'),
    libfaketime: findFakeTime(),
  };
  const missing = Object.keys(programs).filter((name) => programs[name] === undefined);
  if (missing.length > 0) {
    const words = `${missing.join(', ')}: not found, so that tests on Redis and memcached are left out (apt-get install ${missing.join(' ')})`;
    if (process.env.CI === 'true') throw new Error(words);
    console.warn(words);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'weir-near-'));
  const running = { fakeTime: programs.libfaketime, folder };
  const redis = (port) => [
    '--bind',
    '127.0.0.1',
    '--port',
    `${port}`,
    '--save',
    '',
    '--appendonly',
    'no',
    '--dir',
    folder,
  ];
  // Root may not run memcached as itself without a word.
  const user = process.getuid?.() === 0 ? ['-u', 'root'] : [];
  const memcached = (port) => [
    '-l',
    '127.0.0.1',
    '-p',
    `${port}`,
    '-U',
    '0',
    '-t',
    '1',
    '-m',
    '64',
    ...user,
  ];
  const each = Array.from({ length: config.maxWorkers }, async () => {
    const [ofRedis, ofMemcached] = await Promise.all([
      // libc before jemalloc: the allocator asks for the time before libfaketime is ready to answer.
      start(programs['redis-server'], redis, 'PING\r\n', { ...running, preload: ['libc.so.6'] }),
      start(programs.memcached, memcached, 'version\r\n', { ...running, preload: [] }),
    ]);
    return { ofRedis, ofMemcached };
  });
  const all = await Promise.all(each);
  process.env.WEIR_NEAR_STORES = JSON.stringify(
    all.map(({ ofRedis, ofMemcached }) => ({ redis: ofRedis.store, memcached: ofMemcached.store })),
  );
  globalThis.stopNearStores = () => {
    for (const { ofRedis, ofMemcached } of all)
      for (const { child } of [ofRedis, ofMemcached])
        child.removeAllListeners('exit').kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', globalThis.stopNearStores);
};
