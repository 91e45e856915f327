import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { StoreError } from '../../src/core/errors';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { createAuthority, type Authority, type CertificateFiles } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { freePort } from '../support/free-port';
import {
  connectRedisCounters,
  runRedisCounters,
  stopRedisCounters,
} from '../support/edge/redis-counters';
import {
  startRedisServer,
  type RedisServer,
  type RedisServerOptions,
} from '../support/edge/redis-server';

const PASSWORD = 'correct horse:battery';
const servers: RedisServer[] = [];

async function start(...args: Parameters<typeof startRedisServer>): Promise<RedisServer> {
  const server = await startRedisServer(...args);
  servers.push(server);
  return server;
}

afterEach(async () => {
  await stopRedisCounters();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

const one = (key = freshKey()) => batch([increment(key)]);

describe('who we are', () => {
  const options: RedisServerOptions = { settings: [['requirepass', PASSWORD]] };

  it('gives the password of the default user', async () => {
    const server = await start(options, { password: PASSWORD });
    const auth = { username: undefined, password: PASSWORD };
    const counters = await connectRedisCounters({ address: server.address, auth });
    expect((await counters.add(one())).after).toEqual([1]);
  });

  it('gives the name and password of a user', async () => {
    const server = await start(
      {
        settings: [
          ['user', 'limiter', 'on', `>${PASSWORD}`, '~*', '+@all'],
          ...(options.settings ?? []),
        ],
      },
      { password: PASSWORD },
    );
    const auth = { username: 'limiter', password: PASSWORD };
    const counters = await connectRedisCounters({ address: server.address, auth });
    expect((await counters.add(one())).after).toEqual([1]);
  });

  it.each([
    ['none', undefined, /NOAUTH/],
    ['a wrong one', { username: undefined, password: 'wrong one' }, /WRONGPASS/],
    ['one of an unknown user', { username: 'nobody', password: PASSWORD }, /WRONGPASS/],
  ])('is not available with %s, says why and never the password', async (_, auth, reason) => {
    const server = await start(options, { password: PASSWORD });
    const counters = runRedisCounters({ address: server.address, auth });
    await eventually(() => {
      expect(counters.kinds()).toContain('unreachable');
    });
    await expect(counters.add(one())).rejects.toThrow(reason);
    expect(JSON.stringify(counters.events)).not.toContain(auth?.password ?? PASSWORD);
    expect(counters.states).toEqual([false]);
  });

  it.each(['a', 'err', 'user', 'WRONGPASS'])(
    'leaves the words of the server as they are where the password is %s',
    async (password) => {
      const server = await start(options, { password: PASSWORD });
      const auth = { username: undefined, password };
      const counters = runRedisCounters({ address: server.address, auth });
      await eventually(() => {
        const reason = 'WRONGPASS invalid username-password pair or user is disabled.';
        expect(counters.events).toContainEqual(expect.objectContaining({ reason }));
      });
    },
  );

  it('does not repeat the password after a server that does', async () => {
    const server = await start({ settings: [['rename-command', 'AUTH', '']] });
    const auth = { username: undefined, password: 'topsecret' };
    const counters = runRedisCounters({ address: server.address, auth });
    const error = await eventually(async () => {
      expect(counters.kinds()).toContain('unreachable');
      return counters.add(one()).catch((thrown: unknown) => thrown as StoreError);
    });
    expect(error).toBeInstanceOf(StoreError);
    expect((error as StoreError).message).toContain('***');
    expect(JSON.stringify([error, counters.events])).not.toContain('topsecret');
  });
});

describe('the database', () => {
  it('holds the counters, and does so on every connection', async () => {
    const server = await start();
    const counters = await connectRedisCounters({ address: server.address, database: 11 });
    const key = freshKey();
    expect((await counters.add(one(key))).after).toEqual([1]);
    await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually(async () => {
      expect(counters.kinds().filter((kind) => kind === 'connected')).toHaveLength(2);
      expect((await counters.add(one(key))).after[0]).toBeGreaterThan(1);
    });
    expect(await server.client.get(key)).toBeNull();
    await server.client.select(11);
    expect(Number(await server.client.get(key))).toBeGreaterThan(1);
  });

  it('is named when the server does not have it', async () => {
    const server = await start();
    const counters = runRedisCounters({ address: server.address, database: 99 });
    await eventually(() =>
      expect(counters.add(one())).rejects.toThrow(
        'database 99 cannot be selected: ERR DB index is out of range',
      ),
    );
    expect(counters.states).toEqual([false]);
  });
});

describe('a file with the password', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-password-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('is read again for each new connection', async () => {
    const server = await start({ settings: [['requirepass', PASSWORD]] }, { password: PASSWORD });
    const file = join(folder, 'password');
    await writeFile(file, `default:${PASSWORD}\n`);
    const counters = await connectRedisCounters({ address: server.address, auth: { file } });
    await server.client.config('SET', 'requirepass', 'renewed');
    await writeFile(file, 'renewed\n');
    await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually(async () => {
      expect(counters.kinds()).toContain('disconnected');
      expect((await counters.add(one())).after).toEqual([1]);
    });
    await rm(file);
    await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually(() =>
      expect(counters.add(one())).rejects.toThrow(
        `cannot read the credentials in ${file}: it does not exist (ENOENT)`,
      ),
    );
    await writeFile(file, 'renewed:\n');
    await eventually(() =>
      expect(counters.add(one())).rejects.toThrow(`${file}: expected <PASSWORD> or <USER>`),
    );
    expect(JSON.stringify(counters.events)).not.toMatch(/renewed|battery/);
  });
});

describe('a port of something else', () => {
  it('is said to be one of HTTP', async () => {
    const server = createHttpServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const counters = runRedisCounters({ address: { kind: 'tcp', host: '127.0.0.1', port } });
    await eventually(() =>
      expect(counters.add(one())).rejects.toThrow(/: this is an HTTP port, not Redis$/),
    );
    server.close();
  });

  it('that takes no TLS is said to be one, be it Redis itself', async () => {
    const server = await start();
    const files = { caFile: undefined, certFile: undefined, keyFile: undefined };
    const tls = { ...files, skipHostnameVerification: false };
    const counters = runRedisCounters({ address: server.address, tls });
    await eventually(() =>
      expect(counters.add(one())).rejects.toThrow('perhaps the server does not speak TLS'),
    );
  });
});

describe('TLS', () => {
  let authority: Authority;
  beforeEach(() => {
    authority = createAuthority();
  });
  afterEach(() => rm(authority.directory, { recursive: true, force: true }));

  const startTls = (names: readonly string[]) => {
    const tls = authority.issue('server', names);
    const mine = authority.issue('tester');
    return start({ tls }, { tls: { ...readAll(mine), checkServerIdentity: () => undefined } });
  };

  it('refuses a server of another name unless told not to look', async () => {
    const server = await startTls(['elsewhere.example']);
    const tls = { ...authority.issue('client'), skipHostnameVerification: false };
    const strict = runRedisCounters({ address: server.address, tls });
    await eventually(() =>
      expect(strict.add(one())).rejects.toThrow(/certificate is for .* and not for 127/),
    );
    const easy = runRedisCounters({
      address: server.address,
      tls: { ...tls, skipHostnameVerification: true },
    });
    await easy.untilConnected();
    expect((await easy.add(one())).after).toEqual([1]);
  });

  it('refuses a server of an unknown authority, also when the name is not looked at', async () => {
    const server = await startTls(['127.0.0.1']);
    const stranger = createAuthority('stranger');
    const { certFile, keyFile } = authority.issue('client');
    const tls = { caFile: stranger.caFile, certFile, keyFile, skipHostnameVerification: true };
    const counters = runRedisCounters({ address: server.address, tls });
    await eventually(() => expect(counters.add(one())).rejects.toThrow(/certificate/));
    await rm(stranger.directory, { recursive: true });
  });

  it('says which host it wants, for stores behind one address', async () => {
    const { certFile, keyFile, caFile } = authority.issue('localhost', ['localhost']);
    const asked: unknown[] = [];
    const server = createServer(
      { cert: readFileSync(certFile), key: readFileSync(keyFile) },
      (socket) => {
        asked.push(socket.servername);
        socket.destroy();
      },
    ).listen(0, 'localhost');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const tls = { caFile, certFile, keyFile, skipHostnameVerification: false };
    runRedisCounters({ address: { kind: 'tcp', host: 'localhost', port }, tls });
    await eventually(() => {
      expect(asked).toContain('localhost');
    });
    server.close();
  });

  it('reads its files again for each new connection', async () => {
    const server = await startTls(['127.0.0.1']);
    const { caFile, certFile, keyFile } = authority.issue('client');
    const copy = `${certFile}.copy`;
    const tls = { caFile, certFile: copy, keyFile, skipHostnameVerification: false };
    const counters = runRedisCounters({ address: server.address, tls });
    await eventually(() => expect(counters.add(one())).rejects.toThrow(`${copy} cannot be read`));
    await writeFile(copy, 'not a certificate');
    await eventually(() => expect(counters.add(one())).rejects.toThrow(/PEM|certificate/i));
    await copyFile(certFile, copy);
    await counters.untilConnected();
    expect((await counters.add(one())).after).toEqual([1]);
  });
});

describe('a server that takes no scripts', () => {
  it.each([
    ['does not know EVAL', [['rename-command', 'EVAL', '']]],
    [
      'allows a few commands only',
      [
        [
          'user',
          'default',
          'on',
          'nopass',
          '~*',
          'nocommands',
          '+incrby',
          '+expire',
          '+get',
          '+ping',
        ],
      ],
    ],
  ])('%s: plain commands are used', async (_, settings) => {
    const server = await start({ settings });
    const counters = await connectRedisCounters({ address: server.address });
    expect(counters.kinds()).toEqual(['scripts-refused', 'connected']);
    expect(counters.events[1]).toMatchObject({ usesScripts: false });
    const key = freshKey();
    expect((await counters.add(batch([increment(key, 2), increment(key)]))).after).toEqual([2, 3]);
  });

  it('says once that holding back is not atomic', async () => {
    const server = await start();
    const counters = await connectRedisCounters({ address: server.address, scripts: false });
    await counters.add(batch([increment(freshKey())], [1]));
    await counters.add(batch([increment(freshKey())], [1]));
    expect(counters.kinds()).toEqual(['connected', 'hold-back-not-atomic']);
  });

  it('sets the time to live again when a counter was deleted behind our back', async () => {
    const server = await start();
    const counters = await connectRedisCounters({ address: server.address, scripts: false });
    const key = freshKey();
    await counters.add(one(key));
    await server.client.flushall();
    await counters.add(one(key));
    expect(await server.client.ttl(key)).toBeGreaterThan(3_000);
  });
});

describe('life', () => {
  it('gives up when the first connection takes too long', async () => {
    const address = { kind: 'tcp', host: '127.0.0.1', port: await freePort() } as const;
    const counters = runRedisCounters({ address, startupMaxElapsedMs: 200 });
    const end = await eventually(() => {
      expect(counters.end).toBeInstanceOf(StoreError);
      return counters.end as StoreError;
    });
    expect(end.code).toBe('store_unavailable');
    expect(end.message).toMatch(
      /could not be reached within 200 ms: connection refused \(ECONNREFUSED/,
    );
  });

  it('does not give up when it has been connected once', async () => {
    const server = await start();
    const startMs = performance.now();
    const counters = await connectRedisCounters({
      address: server.address,
      startupMaxElapsedMs: 2_000,
    });
    await server.kill();
    await eventually(() => {
      expect(performance.now() - startMs).toBeGreaterThan(2_500);
      expect(counters.kinds().filter((kind) => kind === 'unreachable').length).toBeGreaterThan(3);
    });
    expect(counters.end).toBeUndefined();
  });

  it('completes when it is closed, and leaves nothing behind', async () => {
    const server = await start();
    const counters = await connectRedisCounters({ address: server.address });
    await counters.close();
    await eventually(() => {
      expect(counters.end).toBe('complete');
    });
    await eventually(async () => {
      const list = String(await server.client.client('LIST'));
      expect(list.trim().split('\n')).toHaveLength(1);
    });
  });

  it('completes also when it was closed before or while it connects', async () => {
    const address = { kind: 'tcp', host: '127.0.0.1', port: await freePort() } as const;
    const counters = runRedisCounters({ address, startupInitialMs: 60_000, startupMaxMs: 60_000 });
    await counters.close();
    await eventually(() => {
      expect(counters.end).toBe('complete');
    });
    await expect(counters.add(one())).rejects.toThrow(/the service is stopping/);
  });

  it('counts its connections', async () => {
    const server = await start();
    const counters = await connectRedisCounters({
      address: server.address,
      statisticsPrefix: 'pool',
    });
    const active = counters.statistics.get('pool.cx_active') as () => number;
    expect(active()).toBe(1);
    await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await eventually(() => {
      expect(counters.states).toEqual([false, true, false, true]);
    });
    expect([counters.statistics.get('pool.cx_total'), active()]).toEqual([2, 1]);
    await counters.stop();
    expect(counters.statistics.get('pool.cx_local_close')).toBe(2);
    expect(counters.statistics.has('pool.cx_active')).toBe(false);
  });
});

function readAll({ caFile, certFile, keyFile }: CertificateFiles) {
  return { ca: readFileSync(caFile), cert: readFileSync(certFile), key: readFileSync(keyFile) };
}
