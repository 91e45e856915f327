import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
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
import { startRedisServer, type RedisServer } from '../../support/edge/redis-server';
import { startTcpProxy, type TcpProxy } from '../../support/edge/tcp-proxy';

/** A service and its way to the store. */
interface Place {
  readonly drill: Drill;
  readonly proxy: TcpProxy;
}

/** Two services and one server for all of them: they are healthy again after each, without help. */
let ofHung: Place;
let ofOthers: Place;
let server: RedisServer;
let directory: string;

const start = (port?: number) =>
  startRedisServer({
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

const startPlace = async (fault: Pick<Fault, 'sees'>): Promise<Place> => {
  const proxy = await startTcpProxy(server.port);
  const KVSTORE_URL = `127.0.0.1:${String(proxy.port)}`;
  return { proxy, drill: await startDrill({ KVSTORE_URL, ...patienceFor(fault) }) };
};

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weir-drill-'));
  server = await start();
  [ofHung, ofOthers] = await Promise.all([startPlace({ sees: HUNG }), startPlace({ sees: [] })]);
});
afterAll(async () => {
  for (const { drill, proxy } of [ofHung, ofOthers]) {
    await drill.stop();
    await proxy.close();
  }
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const config = (name: string, value: string) => server.client.config('SET', name, value);

interface Case extends Fault {
  /** What the log says; it names how an outage began, which may be a connection that was closed. */
  readonly says?: RegExp;
  readonly mount: (proxy: TcpProxy) => unknown;
  readonly clear: (proxy: TcpProxy) => unknown;
}

const CASES: readonly Case[] = [
  {
    fault: 'the server is stopped (SIGSTOP)',
    sees: HUNG,
    counts: 'unsure',
    mount: () => {
      server.pause();
    },
    clear: () => {
      server.resume();
    },
  },
  {
    fault: 'the server is killed (SIGKILL) and started again, with `appendfsync always`',
    sees: ['UNAVAILABLE'],
    counts: 'unsure',
    mount: () => server.kill(),
    clear: async () => {
      server = await start(server.port);
    },
  },
  {
    fault: 'the network delays answers, by less than the time-out',
    sees: [],
    counts: 'exact',
    mount: ({ behaviour }) => (behaviour.answerDelayMs = 100),
    clear: ({ behaviour }) => (behaviour.answerDelayMs = 0),
  },
  {
    fault: 'the network delays answers, by more than the time-out',
    sees: HUNG,
    counts: 'unsure',
    mount: ({ behaviour }) => (behaviour.answerDelayMs = 600),
    clear: ({ behaviour }) => (behaviour.answerDelayMs = 0),
  },
  ...(['requests', 'answers'] as const).map((what): Case => ({
    fault: `the network drops ${what}`,
    sees: HUNG,
    counts: 'unsure',
    mount: ({ behaviour }) => (behaviour.swallow = what),
    clear: ({ behaviour }) => (behaviour.swallow = 'nothing'),
  })),
  {
    fault: 'the network truncates an answer',
    sees: ['UNAVAILABLE'],
    counts: 'unsure',
    mount: ({ behaviour }) => (behaviour.cutNextAnswer = true),
    clear: () => undefined,
  },
  {
    fault: 'the network resets connections',
    sees: ['UNAVAILABLE'],
    counts: 'unsure',
    mount: (proxy) => {
      proxy.resetInsteadOfAnswer();
    },
    clear: () => undefined,
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

describe('Redis, one server', () => {
  CASES.forEach((each, index) => {
    const value = `caller${String(index)}`;
    itSees(each, () => {
      const { drill, proxy } = each.sees === HUNG ? ofHung : ofOthers;
      return runDrill(each, {
        drill,
        value,
        says: each.says,
        count: async () => Number(await server.client.get(keyOf(value))),
        mount: () => each.mount(proxy),
        clear: () => each.clear(proxy),
      });
    });
  });

  const wrongType = {
    fault: 'a counter is not a number (a key of the wrong type)',
    sees: ['UNAVAILABLE'],
    counts: 'exact',
    also: 'for this counter alone, under every `on_store_error`',
  } as const;
  itSees(wrongType, async () => {
    const [wrong, right] = [keyOf('wrong'), keyOf('right')];
    for (const key of ['user', 'allow', 'deny', 'local']) {
      await server.client.lpush(keyOf('wrong', key), 'x');
      expect(await ofOthers.drill.ask(key, 'wrong')).toMatchObject({ code: 14 });
    }
    expect(await ofOthers.drill.ask('user', 'right')).toMatchObject({ code: 0 });
    expect(await server.client.get(right)).toBe('1');
    await server.client.del(wrong);
    expect(await ofOthers.drill.ask('user', 'wrong')).toMatchObject({ code: 0 });
    expect(await server.client.get(wrong)).toBe('1');
  });

  const forbidden = {
    fault: 'the access list keeps the user from a key (NOPERM)',
    sees: ['UNAVAILABLE'],
    counts: 'exact',
    also: 'for this counter alone, under every `on_store_error`',
  } as const;
  itSees(forbidden, async () => {
    const setUser = (...rules: string[]) =>
      server.client.call('ACL', 'SETUSER', 'default', ...rules);
    await setUser('resetkeys', '~*allowed*', '~weir:*');
    const logged = ofOthers.drill.service.output().length;
    for (const key of ['user', 'allow', 'deny', 'local'])
      expect(await ofOthers.drill.ask(key, 'forbidden')).toMatchObject({ code: 14 });
    expect(await ofOthers.drill.ask('user', 'allowed')).toMatchObject({ code: 0 });
    expect(ofOthers.drill.service.output().slice(logged)).toMatch(/fault=key .*used as arguments/);
    await setUser('allkeys');
    expect(await ofOthers.drill.ask('user', 'forbidden')).toMatchObject({ code: 0 });
    expect(await server.client.get(keyOf('forbidden'))).toBe('1');
    expect(await server.client.get(keyOf('allowed'))).toBe('1');
  });
});
