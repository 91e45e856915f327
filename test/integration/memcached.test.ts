import * as dns from 'node:dns/promises';
import { rm } from 'node:fs/promises';
import { faultOfKey } from '../../src/counters/memcached/protocol';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { createAuthority, type Authority, type CertificateFiles } from '../support/certificates';
import { eventually } from '../support/edge/eventually';
import { startFakeMemcached } from '../support/fake-memcached';
import { freePort } from '../support/free-port';
import {
  connectMemcachedCounters,
  runMemcachedCounters,
  stopMemcachedCounters,
  untilAdded,
} from '../support/edge/memcached-counters';
import { startSrvServer } from '../support/srv-server';
import { startMemcachedServer, type MemcachedServer } from '../support/edge/memcached-server';

const servers: MemcachedServer[] = [];
afterEach(async () => {
  await stopMemcachedCounters();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function start(options?: Parameters<typeof startMemcachedServer>[0]) {
  const server = await startMemcachedServer(options);
  servers.push(server);
  return server;
}

describe('TLS', () => {
  let authority: Authority;
  let right: CertificateFiles;
  let other: CertificateFiles;
  beforeAll(() => {
    authority = createAuthority();
    right = authority.issue('node', ['127.0.0.1']);
    other = authority.issue('other', ['other.test']);
  });
  afterAll(() => rm(authority.directory, { recursive: true }));

  const tlsOf = (caFile: string | undefined, skipHostnameVerification = false) => ({
    caFile,
    certFile: undefined,
    keyFile: undefined,
    skipHostnameVerification,
  });

  it.each([
    [false, 'unreachable'],
    [true, 'connected'],
  ])('with a certificate of another name, skipping verification is %s: %s', async (skip, kind) => {
    const server = await start({ tls: other });
    const counters = runMemcachedCounters([server.address], { tls: tlsOf(other.caFile, skip) });
    await eventually(() => {
      expect(counters.kinds()[0]).toBe(kind);
    });
  });

  it('refuses an authority that it does not know', async () => {
    const server = await start({ tls: right });
    const counters = runMemcachedCounters([server.address], { tls: tlsOf(undefined) });
    await eventually(() => {
      expect(counters.events[0]).toMatchObject({
        kind: 'unreachable',
        reason: expect.stringMatching(/unknown authority/) as string,
      });
    });
  });

  it('names a file that cannot be read', async () => {
    const server = await start();
    const counters = runMemcachedCounters([server.address], { tls: tlsOf('/none/ca.pem') });
    await eventually(() => {
      expect(counters.events[0]).toMatchObject({
        reason: expect.stringMatching(/the tls file \/none\/ca\.pem cannot be read/) as string,
      });
    });
  });
});

it('a limit of 3 a second lets no more than 3 pass in any window, wherever seconds of memcached begin in it', async () => {
  const server = await start();
  const counters = await connectMemcachedCounters([server.address]);
  const startMs = performance.now() + 100;
  const windows = Array.from({ length: 100 }, (_, at) => ({
    key: freshKey(),
    beginMs: startMs + at * 10,
    endMs: startMs + at * 10 + 1_000,
    asked: 0,
    passed: 0,
  }));
  const isOpen = ({ beginMs, endMs }: (typeof windows)[number]) =>
    performance.now() >= beginMs && performance.now() < endMs;
  const lastMs = startMs + 100 * 10 + 1_000;
  while (performance.now() < lastMs) {
    const open = windows.filter(isOpen);
    // What one second holds without a jitter.
    const asks = open.map(({ key }) => increment(key, 1, { ttlSeconds: 1 }));
    const { after } = await counters.add(batch(asks));
    await untilAdded(counters);
    open.forEach((window, at) => {
      // An answer that came late was given in the next window.
      if (!isOpen(window)) return;
      window.asked += 1;
      if ((after[at] as number) <= 3) window.passed += 1;
    });
  }
  expect(windows.map(({ passed }) => passed)).toEqual(
    windows.map(({ asked }) => Math.min(asked, 3)),
  );
});

it.each(['month', 'year'])('a counter of a %s lives as long as it should', async (unit) => {
  const server = await start();
  const counters = await connectMemcachedCounters([server.address]);
  const ttlSeconds = (unit === 'month' ? 30 : 365) * 86_400 + 299;
  const key = freshKey();
  // memcached takes the end of such a life as a moment.
  const nowSeconds = Date.now() / 1_000;
  await counters.add({ ...batch([increment(key, 1, { ttlSeconds })]), nowSeconds });
  await untilAdded(counters);
  const entry = await server.read(key);
  expect(Math.abs((entry?.ttlSeconds ?? 0) - ttlSeconds)).toBeLessThan(5);
});

it('counts under keys of every code point that it takes', async () => {
  const server = await start();
  const counters = await connectMemcachedCounters([server.address]);
  const isHalf = (code: number) => code >= 0xd800 && code < 0xe000;
  const codes = Array.from({ length: 0x110000 }, (_, code) => code)
    .filter((code) => !isHalf(code))
    .map((code) => String.fromCodePoint(code))
    .filter((character) => faultOfKey(character) === undefined);
  const keys = Array.from({ length: Math.ceil(codes.length / 60) }, (_, at) =>
    codes.slice(at * 60, (at + 1) * 60).join(''),
  );
  for (const count of [1, 2]) {
    const { after } = await counters.add(batch(keys.map((key) => increment(key))));
    expect(after.every((each) => each === count)).toBe(true);
    await untilAdded(counters);
  }
  expect(counters.kinds()).toEqual(['connected']);
});

it('shares counters with clients that place keys by CRC-32 over the list as it is given', async () => {
  const nodes = [await start(), await start()];
  const counters = runMemcachedCounters(nodes.map(({ address }) => address));
  await counters.untilConnected(2);
  // CRC-32 (IEEE) of 123456789 is 0xcbf43926, which is even.
  await counters.add(batch([increment('123456789', 7)]));
  await untilAdded(counters);
  expect((await nodes[0]?.read('123456789'))?.value).toBe('7');
  expect(await nodes[1]?.read('123456789')).toBeUndefined();
});

it('keeps as many connections to a node as it is told', async () => {
  const server = await start();
  const counters = runMemcachedCounters([server.address], { maxIdleConnections: 3 });
  await counters.untilConnected(3);
  const stats = await server.ask('stats', /END\r\n$/);
  const connections = stats.find((line) => line.startsWith('STAT curr_connections '));
  // One more asks, one listens.
  expect(Number(connections?.split(' ')[2])).toBeGreaterThanOrEqual(4);
});

/** Counters on the nodes of an SRV record, which a test changes. */
function followRecord(...ports: readonly number[]) {
  let answer = ports;
  const counters = runMemcachedCounters(
    [],
    { nodes: { kind: 'srv', record: '_memcached._tcp.test', refreshMs: 20 } },
    { resolveSrv: () => Promise.resolve(answer.map((port) => ({ name: '127.0.0.1', port }))) },
  );
  const list = (...now: readonly number[]) => {
    answer = now;
  };
  return { counters, list };
}

it('follows an SRV record: the nodes of now, sorted, and no connection to those of before', async () => {
  const [old, first, second] = [await start(), await start(), await start()];
  const { counters, list } = followRecord(old.port);
  await counters.untilConnected();
  list(second.port, first.port);
  await eventually(() => {
    expect(counters.events.filter(({ kind }) => kind === 'nodes')).toHaveLength(2);
  });
  await counters.untilConnected(3);
  await counters.add(batch([increment('123456789', 7)]));
  await untilAdded(counters);
  const sorted = [first, second].sort((a, b) => (String(a.port) < String(b.port) ? -1 : 1));
  expect((await sorted[0]?.read('123456789'))?.value).toBe('7');
  expect(await old.read('123456789')).toBeUndefined();
});

it('names the node of a key also after its SRV record has changed', async () => {
  const started = [await start(), await start()];
  const sorted = started.sort((a, b) => (String(a.port) < String(b.port) ? -1 : 1));
  const ports = sorted.map(({ port }) => port);
  const { counters, list } = followRecord(...ports.slice(1));
  await counters.untilConnected();
  list(...ports);
  await counters.untilConnected(2);
  // CRC-32 (IEEE) of 123456789 is even.
  await eventually(async () => {
    const { store } = await counters.peek('123456789');
    expect(store).toBe(`memcached at 127.0.0.1:${String(sorted[0]?.port)}`);
  });
});

it('gives a node that the record adds no keys before it is connected: no call fails for it', async () => {
  const [first, second] = [await start(), await start()];
  const deadPort = await freePort();
  const { counters, list } = followRecord(first.port);
  await counters.untilConnected();
  /** Counts under new keys until one of them is at this node, or events say so; each call has to be answered. */
  const countUntil = async (isOver: (key: string) => Promise<boolean>) => {
    for (let isDone = false; !isDone;) {
      const keys = Array.from({ length: 20 }, freshKey);
      const { failures } = await counters.add(batch(keys.map((key) => increment(key))));
      expect(failures).toBeUndefined();
      await untilAdded(counters);
      const over = await Promise.all(keys.map(isOver));
      isDone = over.includes(true);
    }
  };
  const isAt = (server: MemcachedServer) => async (key: string) =>
    (await server.read(key)) !== undefined;
  list(first.port, second.port);
  await countUntil(isAt(second));
  list(first.port, second.port, deadPort);
  const sayings = () => counters.events.filter(({ kind }) => kind === 'unreachable').length;
  await countUntil(() => Promise.resolve(sayings() > 3));
  const third = await start({ port: deadPort });
  await countUntil(isAt(third));
  // All are new, and those of before are no longer named.
  const fourth = await start();
  list(fourth.port);
  await countUntil(isAt(fourth));
});

it('tells that a node which cannot be reached has left the record, and no more of it', async () => {
  const node = await start();
  const deadPort = await freePort();
  const { counters, list } = followRecord(node.port, deadPort);
  const dead = `127.0.0.1:${String(deadPort)}`;
  const said = () => counters.events.filter(({ store }) => store === dead).map(({ kind }) => kind);
  await eventually(() => {
    expect(said().length).toBeGreaterThan(2);
  });
  list(node.port);
  await eventually(() => {
    expect(said().at(-1)).toBe('left');
  });
  const tellings = said();
  list(node.port, deadPort);
  await eventually(() => {
    expect(said().length).toBeGreaterThan(tellings.length);
  });
  expect(new Set(tellings.slice(0, -1))).toEqual(new Set(['unreachable']));
  await counters.close();
  expect(said().filter((kind) => kind === 'left')).toHaveLength(1);
});

it('asks a name server for the record again and again', async () => {
  const [old, next] = [await start(), await start()];
  let nodes = [old];
  const names = await startSrvServer(() => nodes.map(({ port }) => ({ name: '127.0.0.1', port })));
  const before = dns.getServers();
  dns.setServers([names.address]);
  try {
    const record = '_memcached._tcp.example.test';
    const counters = await connectMemcachedCounters([], {
      nodes: { kind: 'srv', record, refreshMs: 20 },
    });
    nodes = [next];
    await eventually(() => {
      expect(counters.events.filter(({ kind }) => kind === 'nodes').at(-1)).toMatchObject({
        nodes: [`127.0.0.1:${String(next.port)}`],
      });
    });
    // It takes keys once it is connected.
    await eventually(async () => {
      const key = freshKey();
      await counters.add(batch([increment(key, 7)]));
      await untilAdded(counters);
      expect((await next.read(key))?.value).toBe('7');
    });
    await counters.stop();
  } finally {
    dns.setServers(before);
    await names.close();
  }
});

it('fails while no node is known, and says why', async () => {
  const counters = runMemcachedCounters(
    [],
    { nodes: { kind: 'srv', record: '_memcached._tcp.test', refreshMs: 0 } },
    { resolveSrv: () => Promise.reject(new Error('querySrv ENOTFOUND')) },
  );
  await eventually(() => {
    expect(counters.kinds()).toContain('unresolved');
  });
  await expect(counters.add(batch([increment(freshKey())]))).rejects.toThrow(
    /no memcached node is known: the name has no address/,
  );
});

it('counts what it does', async () => {
  const server = await start();
  const counters = await connectMemcachedCounters([server.address]);
  const key = freshKey();
  await counters.add(batch([increment(key)]));
  await untilAdded(counters);
  await counters.add(batch([increment(key)]));
  await untilAdded(counters);
  const name = (stat: string) => `ratelimit.memcache.${stat}`;
  expect(Object.fromEntries(counters.statistics)).toEqual({
    [name('keys_requested')]: 2,
    [name('keys_found')]: 1,
    [name('multiget.__code=success')]: 2,
    [name('increment.__code=miss')]: 1,
    [name('increment.__code=success')]: 1,
    [name('add.__code=success')]: 1,
  });
});

it('counts what a node that is full refuses, each key for itself, and says it', async () => {
  const server = await startFakeMemcached();
  server.wrong = { command: 'add', answer: 'SERVER_ERROR out of memory storing object' };
  const counters = await connectMemcachedCounters([{ host: '127.0.0.1', port: server.port }]);
  for (const key of [freshKey(), freshKey()])
    expect((await counters.add(batch([increment(key)]))).after).toEqual([1]);
  await untilAdded(counters);
  expect(counters.kinds()).toEqual(['connected', 'not-added']);
  expect(counters.statistics.get('ratelimit.memcache.add.__code=error')).toBe(2);
  await counters.stop();
  await server.close();
});

it('ends its run when it is closed', async () => {
  const server = await start();
  const counters = await connectMemcachedCounters([server.address]);
  await counters.close();
  expect(counters.hasEnded).toBe(true);
});
