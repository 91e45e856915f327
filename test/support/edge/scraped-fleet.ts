import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createAuthority } from '../certificates';
import { temporaryRules } from '../dashboard-rules';
import { eventually } from './eventually';
import { type MemcachedCommand, startFakeMemcached } from '../fake-memcached';
import { freePort } from '../free-port';
import { startMemcachedServer } from './memcached-server';
import { startRedisServer } from './redis-server';
import { ask, startService } from './service';

/** What a test has to end behind its services. */
type Ends = (() => Promise<unknown>)[];

async function startScraped(env: Readonly<Record<string, string>>) {
  const port = await freePort();
  const service = await startService({
    waitUntilUp: env['BACKEND_TYPE'] === 'memory' ? true : 'connected',
    env: {
      DISABLE_STATS: 'false',
      USE_PULLMETRICS: 'true',
      PULLMETRICS_ADDR: `127.0.0.1:${String(port)}`,
      ...env,
    },
  });
  return { service, port };
}

/** A rule whose leases end at once, and one of a calendar. */
const HELD = `
  - key: held
    rate_limit: { unit: hour, requests_per_unit: 1000000 }
    reserve: { lease: 1s }
  - key: billed
    rate_limit: { unit: month, requests_per_unit: 1, calendar: true, time_zone: Europe/Berlin }
`;

/**
 * Instances with metrics: one on Redis with everything that it can have, one of two workers on memcached, one on a memcached
 * that can refuse commands, one in memory with TLS and room for one counter.
 */
export async function startFleet(ends: Ends) {
  const redis = await startRedisServer();
  ends.push(() => redis.stop());
  const memcached = await startMemcachedServer();
  ends.push(() => memcached.stop());
  const failing = await startFakeMemcached();
  ends.push(() => failing.close());
  const authority = createAuthority();
  ends.push(() => rm(authority.directory, { recursive: true }));
  const { certFile, keyFile } = authority.issue('weir');
  const example = readFileSync(join(__dirname, '../../../examples/config/example.yaml'), 'utf8');
  const rules = await temporaryRules([`${example}${HELD}`]);
  ends.push(() => rm(rules.folder, { recursive: true }));
  const redisUrl = `127.0.0.1:${String(redis.port)}`;
  const onRedis = await startScraped({
    ...rules.env,
    KVSTORE_URL: redisUrl,
    KVSTORE_PERSECOND: 'true',
    KVSTORE_PERSECOND_URL: redisUrl,
    LOCAL_CACHE_SIZE_IN_BYTES: '1000000',
  });
  const onMemcached = await startScraped({
    BACKEND_TYPE: 'memcache',
    WORKERS: '2',
    MEMSTORE_HOST_PORT: `127.0.0.1:${String(memcached.port)}`,
  });
  const onFailing = await startScraped({
    BACKEND_TYPE: 'memcache',
    MEMSTORE_HOST_PORT: `127.0.0.1:${String(failing.port)}`,
  });
  const inMemory = await startScraped({
    BACKEND_TYPE: 'memory',
    MEMORY_MAX_KEYS: '1',
    MAX_HELD_BYTES: '1200000',
    GRPC_SERVER_USE_TLS: 'true',
    GRPC_SERVER_TLS_CERT: certFile,
    GRPC_SERVER_TLS_KEY: keyFile,
  });
  return { redis, failing, rules, certFile, onRedis, onMemcached, onFailing, inMemory };
}

type Fleet = Awaited<ReturnType<typeof startFleet>>;
type Scraped = Fleet['inMemory'];

/** Repeats a load until a counter of the instance is above 0. */
const untilCounted = ({ port }: Scraped, name: string, load: () => unknown) =>
  eventually(async () => {
    await load();
    const text = await (await fetch(`http://127.0.0.1:${String(port)}/metrics`)).text();
    expect(text).toMatch(new RegExp(`^${name} [1-9]`, 'm'));
  });

/** A memcached that refuses one kind of command after the other. */
export async function failCommands({ failing, onFailing }: Fleet): Promise<void> {
  const refuse = async (command: MemcachedCommand, kind: string, entry: () => string) => {
    failing.wrong = { command, answer: 'SERVER_ERROR out of memory' };
    await untilCounted(onFailing, `ratelimit_memcache_${kind}___code_error`, () =>
      ask(onFailing.service, 'example', entry()),
    );
  };
  let made = 0;
  await refuse('incr', 'increment', () => 'api_key=a');
  await refuse('add', 'add', () => `api_key=new-${String((made += 1))}`);
  await refuse('get', 'multiget', () => 'api_key=a');
}

/** Holds hits, settles some of them, and lets a lease end. */
export async function holdHits({ onRedis }: Fleet): Promise<void> {
  const { http } = onRedis.service;
  let made = 0;
  const call = async (what: 'reserve' | 'settle', id: string) => {
    const entries = Object.entries({ held: 'a', [what]: id }).map(([key, value]) => ({
      key,
      value,
    }));
    const body = JSON.stringify({ domain: 'example', descriptors: [{ entries }] });
    await (await fetch(`${http}/json`, { method: 'POST', body })).text();
  };
  const prefix = 'ratelimit_service_rate_limit_';
  await untilCounted(onRedis, `${prefix}settled{[^}]*}`, async () => {
    const id = String((made += 1));
    await call('reserve', id);
    await call('settle', id);
  });
  await untilCounted(onRedis, `${prefix}lapsed{[^}]*}`, () => call('reserve', String((made += 1))));
}

/** While it is empty: a counter has to go for the next; then one that has reached its limit takes the only place. */
export async function fillMemory({ inMemory }: Fleet): Promise<void> {
  const load = async (...entries: readonly string[]) => {
    for (const entry of entries) await ask(inMemory.service, 'example', entry);
  };
  await untilCounted(inMemory, 'ratelimit_memory_evictions', () =>
    load('remote_address=192.0.2.1', 'remote_address=192.0.2.2'),
  );
  await untilCounted(inMemory, 'ratelimit_memory_refused', () =>
    load('try=it', 'remote_address=192.0.2.3'),
  );
}

/** Clients that TLS refuses, that do not send the rest, and a certificate that is none. */
export async function misuse({ inMemory, certFile }: Fleet, ends: Ends): Promise<void> {
  const { service } = inMemory;
  const open = (url: string) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined);
    ends.push(() => Promise.resolve(socket.destroy()));
    return socket;
  };
  await untilCounted(inMemory, 'ratelimit_server_tls_handshake_error', () =>
    open(`http://${service.grpc}`).write('no TLS\r\n\r\n'),
  );
  await untilCounted(inMemory, 'ratelimit_connections_ended_unread', () => {
    const socket = open(service.http);
    socket.write('POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 600000\r\n\r\n');
    socket.write(' '.repeat(500_000));
  });
  await writeFile(certFile, 'no certificate');
  await untilCounted(inMemory, 'ratelimit_service_certificate_load_error', () => undefined);
}
