import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { createRedisStore } from '../../src/identity/store/redis/create-redis-store';
import type { RedisStoreOptions } from '../../src/identity/store/redis/redis-client';
import { StoreUnavailable, type IdentityStore } from '../../src/identity/store/store';
import { createAuthority, type Authority } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import { ANN, grant, startIdentity } from '../support/identity';
import { send } from '../support/raw-http';
import { createRecordingLogger } from '../support/recording-logger';
import { startRedisCluster } from '../support/edge/redis-cluster';
import { startSentinels } from '../support/edge/redis-sentinels';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startStopwatch } from '../support/edge/core-time';
import { expectFigure } from '../support/edge/figure';

/** The time-out of a store whose time-out matters. */
const SOON_MS = 300;

const servers: RedisServer[] = [];
const stores: IdentityStore[] = [];
const endings: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  for (const end of endings.splice(0)) await end();
  for (const server of servers.splice(0)) await server.stop();
});

type Address = RedisStoreOptions['address'];

async function openStore(place: number | Address, more: Partial<RedisStoreOptions> = {}) {
  const { logger, lines } = createRecordingLogger();
  const address: Address =
    typeof place === 'number' ? { kind: 'tcp', host: '127.0.0.1', port: place } : place;
  const none = { auth: undefined, sentinelAuth: undefined, tls: undefined };
  const store = createRedisStore(
    { monotonicMs: () => performance.now(), nowMs: Date.now, logger },
    { address, ...none, timeoutMs: 5_000, ...more },
  );
  stores.push(store);
  await store.open();
  return { store, lines };
}

async function startServer(port?: number): Promise<RedisServer> {
  const server = await startRedisServer(port === undefined ? {} : { port });
  servers.push(server);
  return server;
}

it('is away at once when nobody listens, and there when somebody does', async () => {
  const port = await freePort();
  const { store } = await openStore(port);
  await expect(store.findToken('t')).rejects.toThrow(StoreUnavailable);
  await startServer(port);
  await eventually(async () => {
    expect(await store.findToken('t')).toBeUndefined();
  });
});

it('is away within its time-out when the server hangs', async () => {
  const server = await startServer();
  const { store: writer } = await openStore(server.port);
  await writer.putUsers([ANN]);
  const { store } = await openStore(server.port, { timeoutMs: SOON_MS });
  await eventually(() => store.findUser('ann'));
  server.pause();
  const elapsedMs = startStopwatch();
  await expect(store.findUser('ann')).rejects.toThrow(StoreUnavailable);
  expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: 1_000 });
  server.resume();
  await eventually(async () => {
    expect((await store.findUser('ann'))?.id).toBe('ann');
  });
});

it('comes back after a restart, with one line in the log for each', async () => {
  const server = await startServer();
  const { store, lines } = await openStore(server.port);
  await server.kill();
  await eventually(async () => {
    await expect(store.findToken('t')).rejects.toThrow(StoreUnavailable);
    expect(lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });
  await startServer(server.port);
  await eventually(async () => {
    expect(await store.findToken('t')).toBeUndefined();
  });
  expect(lines.filter(({ level }) => level === 'info')).toHaveLength(2);
});

it('says no secret when a password is wrong', async () => {
  const server = await startRedisServer(
    { settings: [['requirepass', 'hunter2']] },
    { password: 'hunter2' },
  );
  servers.push(server);
  const { store, lines } = await openStore(server.port, {
    auth: { username: undefined, password: 'hunter3' },
  });
  const error: unknown = await store.putUsers([ANN]).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StoreUnavailable);
  expect(JSON.stringify(lines) + String(error)).not.toContain('hunter');
  const { store: good } = await openStore(server.port, {
    auth: { username: undefined, password: 'hunter2' },
  });
  await good.putUsers([ANN]);
});

describe('with its password in a file', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-identity-auth-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const isThere = (store: IdentityStore, id: string) =>
    eventually(async () => {
      await store.putUsers([{ ...ANN, id }]);
    });

  /** Gives the servers another password and ends the connections that were made with the last one. */
  const change = async (masters: readonly RedisServer[], password: string) => {
    for (const { client } of masters) {
      await client.config('SET', 'masterauth', password);
      await client.config('SET', 'requirepass', password);
      await client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    }
  };

  it.each(['a server', 'a cluster'])(
    'reads it again for each new connection to %s',
    async (kind) => {
      const file = join(folder, 'password');
      await writeFile(file, 'first\n');
      const settings = [
        ['requirepass', 'first'],
        ['masterauth', 'first'],
      ];
      const client = { password: 'first' };
      const setup =
        kind === 'a cluster'
          ? await startRedisCluster({ settings, client })
          : await startRedisServer({ settings }, client);
      endings.push(() => setup.stop());
      const masters = 'masters' in setup ? setup.masters : [setup];
      const { store, lines } = await openStore(setup.address, { auth: { file } });
      await isThere(store, 'first');

      await rm(file);
      await change(masters, 'second');
      await eventually(async () => {
        // A cluster connects to a node when a command goes there.
        await expect(store.findUser('first')).rejects.toThrow(StoreUnavailable);
        expect(JSON.stringify(lines)).toContain(`cannot read the credentials in ${file}`);
      });

      await writeFile(file, 'second');
      await isThere(store, 'second');
      expect(JSON.stringify(lines)).not.toMatch(/"first"|"second"/);
    },
    60_000,
  );
});

it('gives the session key the time of the session, and one DEL ends it', async () => {
  const server = await startServer();
  const { store } = await openStore(server.port);
  const { token, tokenId, sessionId } = await grant(store, ANN, 60_000);
  const ttl = await server.client.pttl(`identity:session:${sessionId}`);
  expect(ttl).toBeGreaterThan(55_000);
  expect(ttl).toBeLessThanOrEqual(60_000);
  expect(await server.client.pttl(`identity:token:${tokenId}`)).toBeLessThanOrEqual(60_000);
  expect(await server.client.pttl('identity:user:ann')).toBe(-1);
  const record = await store.findToken(tokenId);
  if (record === undefined) throw new Error('the token is not there');
  await server.client.del(`identity:session:${sessionId}`);
  expect((await store.findOwner(record)).remainingMs).toBeUndefined();
  const values = await server.client.mget(await server.client.keys('identity:[ust]*:*'));
  expect(values.join()).not.toContain(token.slice(20, 63));
});

it('is away, not wrong, when a record is damaged', async () => {
  const server = await startServer();
  const { store } = await openStore(server.port);
  await server.client.set('identity:user:t', '{"id":secret@example.com');
  const error: unknown = await store.findUser('t').catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(StoreUnavailable);
  expect(String(error)).not.toContain('secret');
});

it('serves two instances from one Redis: what one revokes, the other refuses at once', async () => {
  const server = await startServer();
  const { store: first } = await openStore(server.port);
  const { store: second } = await openStore(server.port);
  const instances = [
    await startIdentity({}, {}, first),
    await startIdentity({}, {}, second),
  ] as const;
  endings.push(...instances.map((instance) => () => instance.stop()));
  const { token, sessionId } = await grant(first, ANN, 60_000);
  const ask = async () => {
    const headers = [['Authorization', `Bearer ${token}`]] as const;
    const answers = await Promise.all(instances.map(({ url }) => send(url, headers)));
    return answers.map(({ status }) => status);
  };
  expect(await ask()).toEqual([200, 200]);
  await second.deleteSession(sessionId);
  expect(await ask()).toEqual([401, 401]);
});

it('follows the master that sentinels name', async () => {
  const setup = await startSentinels();
  endings.push(() => setup.stop());
  const { store } = await openStore(setup.address);
  const { tokenId } = await grant(store, ANN, 60_000);
  await setup.failOver();
  await eventually(
    async () => {
      expect((await store.findToken(tokenId))?.userId).toBe('ann');
      await store.putUsers([{ ...ANN, id: 'bob' }]);
    },
    { withinMs: 15_000 },
  );
}, 60_000);

it.each<[string, (place: { host: string; port: number }) => Address]>([
  ['sentinel', (place) => ({ kind: 'sentinel', masterName: 'm', sentinels: [place] })],
  ['node of the cluster', (place) => ({ kind: 'cluster', nodes: [place] })],
])('opens soon while no %s is there, and is away', async (_, toAddress) => {
  const elapsedMs = startStopwatch();
  const address = toAddress({ host: '127.0.0.1', port: await freePort() });
  const { store } = await openStore(address, { timeoutMs: SOON_MS });
  await expect(store.findToken('t')).rejects.toThrow(StoreUnavailable);
  expectFigure({ name: 'answer', value: elapsedMs(), unit: 'ms', below: 1_000 });
});

describe('over TLS', () => {
  let authority: Authority;
  beforeEach(() => {
    authority = createAuthority();
  });
  afterEach(() => rm(authority.directory, { recursive: true, force: true }));

  /** A TLS server on `localhost`; names itself as the master when it is asked as a sentinel. */
  async function startTlsServer() {
    const { certFile, keyFile, ...files } = authority.issue('localhost', ['localhost']);
    const names: unknown[] = [];
    const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) });
    const sockets = new Set<Socket>();
    server.on('secureConnection', (socket) => {
      names.push(socket.servername);
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('data', (asked: Buffer) => {
        const master = String(port);
        if (asked.includes('get-master-addr-by-name'))
          socket.write(`*2\r\n$9\r\nlocalhost\r\n$${String(master.length)}\r\n${master}\r\n`);
        else socket.write('*0\r\n');
      });
    });
    server.on('tlsClientError', () => undefined);
    server.listen(0, 'localhost');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    endings.push(async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    });
    return { names, port, caFile: files.caFile };
  }

  it.each<[string, number, (place: { host: string; port: number }) => Address]>([
    ['a server', 1, (place) => ({ kind: 'tcp', ...place })],
    ['the nodes of a cluster', 1, (place) => ({ kind: 'cluster', nodes: [place] })],
    [
      'a sentinel and the master',
      2,
      (place) => ({ kind: 'sentinel', masterName: 'm', sentinels: [place] }),
    ],
  ])(
    'says to %s which host it wants, for stores behind one address',
    async (_, least, toAddress) => {
      const { names, port, caFile } = await startTlsServer();
      const files = { caFile, certFile: undefined, keyFile: undefined };
      const tls = { ...files, skipHostnameVerification: false };
      await openStore(toAddress({ host: 'localhost', port }), { tls, timeoutMs: SOON_MS });
      await eventually(() => {
        expect(names.length).toBeGreaterThanOrEqual(least);
      });
      expect(new Set(names)).toEqual(new Set(['localhost']));
    },
  );
});

it('keeps the index of sessions as short as there are sessions, and lets it go in the end', async () => {
  const server = await startServer();
  const { logger } = createRecordingLogger();
  const clock = { nowMs: 1_000_000_000_000 };
  const none = { auth: undefined, sentinelAuth: undefined, tls: undefined };
  const store = createRedisStore(
    { monotonicMs: () => performance.now(), nowMs: () => clock.nowMs, logger },
    { address: server.address, ...none, timeoutMs: 5_000 },
  );
  stores.push(store);
  await store.open();
  for (let day = 0; day < 5; day++) {
    await grant(store, ANN, 60_000);
    clock.nowMs += 86_400_000;
  }
  expect(await server.client.zcard('identity:sessions-of:ann')).toBe(2);
  expect(await server.client.pttl('identity:sessions-of:ann')).toBeGreaterThan(366 * 86_400_000);
});
