import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../support/edge/eventually';
import {
  backIn,
  HUNG,
  itSees,
  keyOf,
  runDrill,
  patienceFor,
  startDrill,
  type Drill,
  type Fault,
} from '../../support/edge/fault-drill';
import { freePort } from '../../support/free-port';
import { startMemcachedServer, type MemcachedServer } from '../../support/edge/memcached-server';
import { startRedisServer, type RedisServer } from '../../support/edge/redis-server';
import { startTcpProxy, type TcpProxy } from '../../support/edge/tcp-proxy';

/** A service and its way to the store. */
interface Place {
  readonly drill: Drill;
  readonly proxy: TcpProxy;
}

interface Case extends Fault {
  /** What the log says; it names how an outage began, which may be a connection that was closed. */
  readonly says?: RegExp;
  readonly mount: (proxy: TcpProxy) => unknown;
  readonly clear: (proxy: TcpProxy) => unknown;
}

type Server = RedisServer | MemcachedServer;

interface Store {
  /** The setting that says where it is. */
  readonly setting: string;
  readonly start: () => Promise<Server>;
  readonly count: (value: string) => Promise<number>;
  readonly cases: readonly Case[];
}

/** The faults of any server and its network; `counts`: what becomes of a hit that fails. */
function commonCases(what: string, counts: Fault['counts'], server: () => Server): readonly Case[] {
  const behaving = (
    fault: string,
    sees: Fault['sees'],
    change: Partial<TcpProxy['behaviour']>,
  ): Case => ({
    fault: `the network ${fault}`,
    sees,
    counts: sees.length === 0 ? 'exact' : counts,
    mount: ({ behaviour }) => Object.assign(behaviour, change),
    clear: ({ behaviour }) => Object.assign(behaviour, { answerDelayMs: 0, swallow: 'nothing' }),
  });
  return [
    {
      fault: `the ${what} is stopped (SIGSTOP)`,
      sees: HUNG,
      counts,
      mount: () => {
        server().pause();
      },
      clear: () => {
        server().resume();
      },
    },
    behaving('delays answers, by less than the time-out', [], { answerDelayMs: 100 }),
    behaving('delays answers, by more than the time-out', HUNG, { answerDelayMs: 800 }),
    behaving('drops requests', HUNG, { swallow: 'requests' }),
    behaving('drops answers', HUNG, { swallow: 'answers' }),
    behaving('truncates an answer', ['UNAVAILABLE'], { cutNextAnswer: true }),
    {
      fault: 'the network resets connections',
      sees: ['UNAVAILABLE'],
      counts,
      mount: (proxy) => {
        proxy.resetInsteadOfAnswer();
      },
      clear: () => undefined,
    },
  ];
}

/** Two services and one server for all of its faults: they are healthy again after each, without help. */
function itSeesAll({ setting, start, count, cases }: Store): { readonly drill: () => Drill } {
  let ofHung: Place;
  let ofOthers: Place;
  const startPlace = async (port: number, fault: Pick<Fault, 'sees'>): Promise<Place> => {
    const proxy = await startTcpProxy(port);
    const env = { [setting]: `127.0.0.1:${String(proxy.port)}`, ...patienceFor(fault) };
    return { proxy, drill: await startDrill(env) };
  };
  beforeAll(async () => {
    const { port } = await start();
    [ofHung, ofOthers] = await Promise.all([
      startPlace(port, { sees: HUNG }),
      startPlace(port, { sees: [] }),
    ]);
  });
  afterAll(async () => {
    for (const { drill, proxy } of [ofHung, ofOthers]) {
      await drill.stop();
      await proxy.close();
    }
  });
  cases.forEach((each, index) => {
    const value = `caller${String(index)}`;
    itSees(each, () => {
      const { drill, proxy } = each.sees === HUNG ? ofHung : ofOthers;
      return runDrill(each, {
        drill,
        value,
        says: each.says,
        count: () => count(value),
        mount: () => each.mount(proxy),
        clear: () => each.clear(proxy),
      });
    });
  });
  return { drill: () => ofOthers.drill };
}

/** It is about one counter, so that no policy lets a caller past its limit. */
const OF_KEY = {
  sees: ['UNAVAILABLE'],
  counts: 'exact',
  also: 'for this counter alone, under every `on_store_error`',
} as const;
const KEYS = ['user', 'allow', 'deny', 'local'];

describe('Redis, one server', () => {
  let server: RedisServer;
  let directory: string;
  const start = async (port?: number) => {
    server = await startRedisServer({
      ...(port === undefined ? {} : { port }),
      directory,
      settings: [
        ['appendonly', 'yes'],
        ['appendfsync', 'always'],
        ['enable-debug-command', 'local'],
        ['loading-process-events-interval-bytes', '1024'],
        ['busy-reply-threshold', '10'],
      ],
    });
    return server;
  };
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'weir-drill-'));
  });
  const config = (name: string, value: string) => server.client.config('SET', name, value);

  const CASES: readonly Case[] = [
    ...commonCases('server', 'unsure', () => server),
    {
      fault: 'the server is killed (SIGKILL) and started again, with `appendfsync always`',
      sees: ['UNAVAILABLE'],
      counts: 'unsure',
      mount: () => server.kill(),
      clear: () => start(server.port),
    },
    {
      fault: 'the server has forgotten the script (SCRIPT FLUSH)',
      sees: [],
      counts: 'exact',
      mount: () => server.client.script('FLUSH'),
      clear: () => undefined,
    },
    {
      fault: 'the server is out of memory (OOM)',
      sees: ['UNAVAILABLE'],
      counts: 'exact',
      says: /OOM/,
      mount: () => config('maxmemory', '100kb'),
      clear: () => config('maxmemory', '0'),
    },
    {
      fault: 'the server has become a replica (READONLY)',
      sees: ['UNAVAILABLE'],
      counts: 'exact',
      says: /READONLY/,
      mount: async () => server.client.replicaof('127.0.0.1', await freePort()),
      clear: () => server.client.replicaof('NO', 'ONE'),
    },
    {
      fault: 'the server waits for its master (MASTERDOWN)',
      sees: ['UNAVAILABLE'],
      counts: 'exact',
      says: /MASTERDOWN/,
      mount: async () => {
        await config('replica-serve-stale-data', 'no');
        await server.client.replicaof('127.0.0.1', await freePort());
      },
      clear: async () => {
        await server.client.replicaof('NO', 'ONE');
        await config('replica-serve-stale-data', 'yes');
      },
    },
    {
      fault: 'the server loads its data (LOADING)',
      sees: ['UNAVAILABLE'],
      counts: 'unsure',
      says: /LOADING/,
      async mount() {
        await server.client.call('DEBUG', 'POPULATE', '10000', 'load', '64');
        await config('key-load-delay', '50');
        // Answered when all is loaded; meanwhile everybody else hears LOADING.
        void server.client.call('DEBUG', 'RELOAD').catch(() => undefined);
      },
      clear: () => config('key-load-delay', '0'),
    },
    {
      fault: 'the server wants a password (NOAUTH)',
      sees: ['UNAVAILABLE'],
      counts: 'unsure',
      says: /NOAUTH/,
      async mount() {
        await config('requirepass', 'new');
        await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      },
      clear: () => config('requirepass', ''),
    },
    {
      fault: 'a script of somebody else holds the server up (BUSY)',
      sees: ['UNAVAILABLE'],
      counts: 'exact',
      says: /BUSY/,
      async mount() {
        void server.client.eval('while true do end', 0).catch(() => undefined);
        await Promise.resolve();
      },
      async clear() {
        const rescuer = server.client.duplicate();
        await rescuer.script('KILL');
        rescuer.disconnect();
      },
    },
  ];

  const { drill } = itSeesAll({
    setting: 'KVSTORE_URL',
    start,
    count: async (value) => Number(await server.client.get(keyOf(value))),
    cases: CASES,
  });
  afterAll(async () => {
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  });

  itSees({ fault: 'a counter is not a number (a key of the wrong type)', ...OF_KEY }, async () => {
    const [wrong, right] = [keyOf('wrong'), keyOf('right')];
    for (const key of KEYS) {
      await server.client.lpush(keyOf('wrong', key), 'x');
      expect(await drill().ask(key, 'wrong')).toMatchObject({ code: 14 });
    }
    expect(await drill().ask('user', 'right')).toMatchObject({ code: 0 });
    expect(await server.client.get(right)).toBe('1');
    await server.client.del(wrong);
    expect(await drill().ask('user', 'wrong')).toMatchObject({ code: 0 });
    expect(await server.client.get(wrong)).toBe('1');
  });

  itSees({ fault: 'the access list keeps the user from a key (NOPERM)', ...OF_KEY }, async () => {
    const setUser = (...rules: string[]) =>
      server.client.call('ACL', 'SETUSER', 'default', ...rules);
    await setUser('resetkeys', '~*allowed*', '~weir:*');
    const logged = drill().service.output().length;
    for (const key of KEYS) expect(await drill().ask(key, 'forbidden')).toMatchObject({ code: 14 });
    expect(await drill().ask('user', 'allowed')).toMatchObject({ code: 0 });
    expect(drill().service.output().slice(logged)).toMatch(/fault=key .*used as arguments/);
    await setUser('allkeys');
    expect(await drill().ask('user', 'forbidden')).toMatchObject({ code: 0 });
    expect(await server.client.get(keyOf('forbidden'))).toBe('1');
    expect(await server.client.get(keyOf('allowed'))).toBe('1');
  });
});

describe('memcached', () => {
  let server: MemcachedServer;
  const start = async (port?: number) => {
    server = await startMemcachedServer(port === undefined ? {} : { port });
    return server;
  };
  const { drill } = itSeesAll({
    setting: 'MEMSTORE_HOST_PORT',
    start,
    count: async (value) => Number((await server.read(keyOf(value)))?.value ?? 0),
    cases: [
      ...commonCases('node', 'behind', () => server),
      {
        fault: 'the node is killed (SIGKILL) and started again',
        sees: ['UNAVAILABLE'],
        counts: 'lost',
        mount: () => server.kill(),
        clear: () => start(server.port),
      },
    ],
  });
  afterAll(() => server.stop());

  itSees({ fault: 'a counter is not a number', ...OF_KEY }, async () => {
    for (const key of KEYS) {
      // The connection of this counter may still be on its way back from the fault before.
      await eventually(async () => {
        await drill().ask(key, 'wrong');
        expect(await server.read(keyOf('wrong', key))).toBeDefined();
      }, backIn(drill()));
      await server.ask(`set ${keyOf('wrong', key)} 0 60 5\r\nhello`);
      expect(await drill().ask(key, 'wrong')).toMatchObject({ code: 14 });
    }
    expect(await drill().ask('user', 'right')).toMatchObject({ code: 0 });
  });

  const tooLong = 'a key is longer than 250 bytes, or holds whitespace or control characters';
  itSees({ fault: tooLong, ...OF_KEY }, async () => {
    for (const key of KEYS) {
      expect(await drill().ask(key, 'x'.repeat(300))).toMatchObject({
        code: 14,
        details: expect.stringMatching(/at most 250 bytes: this one has 3\d\d/) as string,
      });
      expect(await drill().ask(key, 'a b')).toMatchObject({
        code: 14,
        details: expect.stringMatching(/this one has U\+0020 at \d+/) as string,
      });
    }
  });
});
