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
import { startMemcachedServer, type MemcachedServer } from '../../support/edge/memcached-server';
import { startTcpProxy, type TcpProxy } from '../../support/edge/tcp-proxy';

/** A service and its way to the store. */
interface Place {
  readonly drill: Drill;
  readonly proxy: TcpProxy;
}

/** Two services and one node for all of them: they are healthy again after each, without help. */
let ofHung: Place;
let ofOthers: Place;
let server: MemcachedServer;

const startPlace = async (fault: Pick<Fault, 'sees'>): Promise<Place> => {
  const proxy = await startTcpProxy(server.port);
  const MEMSTORE_HOST_PORT = `127.0.0.1:${String(proxy.port)}`;
  return { proxy, drill: await startDrill({ MEMSTORE_HOST_PORT, ...patienceFor(fault) }) };
};

beforeAll(async () => {
  server = await startMemcachedServer();
  [ofHung, ofOthers] = await Promise.all([startPlace({ sees: HUNG }), startPlace({ sees: [] })]);
});
afterAll(async () => {
  for (const { drill, proxy } of [ofHung, ofOthers]) {
    await drill.stop();
    await proxy.close();
  }
  await server.stop();
});

interface Case extends Fault {
  readonly mount: (proxy: TcpProxy) => unknown;
  readonly clear: (proxy: TcpProxy) => unknown;
}

const CASES: readonly Case[] = [
  {
    fault: 'the node is stopped (SIGSTOP)',
    sees: HUNG,
    counts: 'behind',
    mount: () => {
      server.pause();
    },
    clear: () => {
      server.resume();
    },
  },
  {
    fault: 'the node is killed (SIGKILL) and started again',
    sees: ['UNAVAILABLE'],
    counts: 'lost',
    mount: () => server.kill(),
    clear: async () => {
      server = await startMemcachedServer({ port: server.port });
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
    counts: 'behind',
    mount: ({ behaviour }) => (behaviour.answerDelayMs = 800),
    clear: ({ behaviour }) => (behaviour.answerDelayMs = 0),
  },
  ...(['requests', 'answers'] as const).map((what): Case => ({
    fault: `the network drops ${what}`,
    sees: HUNG,
    counts: 'behind',
    mount: ({ behaviour }) => (behaviour.swallow = what),
    clear: ({ behaviour }) => (behaviour.swallow = 'nothing'),
  })),
  {
    fault: 'the network truncates an answer',
    sees: ['UNAVAILABLE'],
    counts: 'behind',
    mount: ({ behaviour }) => (behaviour.cutNextAnswer = true),
    clear: () => undefined,
  },
  {
    fault: 'the network resets connections',
    sees: ['UNAVAILABLE'],
    counts: 'behind',
    mount: (proxy) => {
      proxy.resetInsteadOfAnswer();
    },
    clear: () => undefined,
  },
];

describe('memcached', () => {
  CASES.forEach((each, index) => {
    const value = `caller${String(index)}`;
    itSees(each, () => {
      const { drill, proxy } = each.sees === HUNG ? ofHung : ofOthers;
      return runDrill(each, {
        drill,
        value,
        count: async () => Number((await server.read(keyOf(value)))?.value ?? 0),
        mount: () => each.mount(proxy),
        clear: () => each.clear(proxy),
      });
    });
  });

  const wrong = {
    fault: 'a counter is not a number',
    sees: ['UNAVAILABLE'],
    counts: 'exact',
    also: 'for this counter alone, under every `on_store_error`',
  } as const;
  itSees(wrong, async () => {
    for (const key of ['user', 'allow', 'deny', 'local']) {
      // The connection of this counter may still be on its way back from the fault before.
      await eventually(async () => {
        await ofOthers.drill.ask(key, 'wrong');
        expect(await server.read(keyOf('wrong', key))).toBeDefined();
      }, backIn(ofOthers.drill));
      await server.ask(`set ${keyOf('wrong', key)} 0 60 5\r\nhello`);
      expect(await ofOthers.drill.ask(key, 'wrong')).toMatchObject({ code: 14 });
    }
    expect(await ofOthers.drill.ask('user', 'right')).toMatchObject({ code: 0 });
  });

  const tooLong = {
    fault: 'a key is longer than 250 bytes, or holds whitespace or control characters',
    sees: ['UNAVAILABLE'],
    counts: 'exact',
    also: 'for this counter alone, under every `on_store_error`',
  } as const;
  itSees(tooLong, async () => {
    for (const key of ['user', 'allow', 'deny', 'local']) {
      expect(await ofOthers.drill.ask(key, 'x'.repeat(300))).toMatchObject({
        code: 14,
        details: expect.stringMatching(/at most 250 bytes: this one has 3\d\d/) as string,
      });
      expect(await ofOthers.drill.ask(key, 'a b')).toMatchObject({
        code: 14,
        details: expect.stringMatching(/this one has U\+0020 at \d+/) as string,
      });
    }
  });
});
