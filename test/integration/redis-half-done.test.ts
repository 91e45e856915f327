import { batch, freshKey, increment } from '../contract/counters.contract';
import { eventually } from '../support/edge/eventually';
import { startLyingRedis, type LyingRedis } from '../support/lying-redis';
import { connectRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { noPermissionFor } from '../support/edge/redis-refusals';
import { startRedisServer } from '../support/edge/redis-server';

const UNKNOWN = 'ratelimit.service.call.should_rate_limit.store_unknown_outcome';

/** By this each new connection asks whether it may EXPIRE. */
const NO_KEY = 'weir:no-key';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopRedisCounters();
  await Promise.all(ends.splice(0).map((end) => end()));
});

type Lie = LyingRedis['lie'];

/** A cluster of two nodes that take no scripts, whose slots all belong to the first. */
async function startCluster(ofFirst: (other: LyingRedis) => Lie, ofOther: Lie = () => undefined) {
  const nodes = [await startLyingRedis({ takesScripts: false }), await startLyingRedis()] as const;
  const [first, other] = nodes;
  ends.push(...nodes.map((node) => () => node.close()));
  const lieOfFirst = ofFirst(other);
  const slots = `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:${String(first.port)}\r\n`;
  const withSlots =
    (lie: Lie): Lie =>
    (words) =>
      words[0]?.toLowerCase() === 'cluster' ? slots : lie(words);
  first.lie = withSlots(lieOfFirst);
  other.lie = withSlots(ofOther);
  first.reply = ':1\r\n';
  const address = {
    kind: 'cluster',
    nodes: [{ host: '127.0.0.1', port: first.port }],
  } as const;
  const counters = await connectRedisCounters({ address, scripts: false });
  const sent = (name: string) =>
    nodes.map(
      ({ received }) =>
        received.filter(([word, key]) => word?.toLowerCase() === name && key !== NO_KEY).length,
    );
  return { counters, sent };
}

const redirecting =
  (command: string, kind: 'MOVED' | 'ASK') =>
  ({ port }: LyingRedis): Lie =>
  ([name]) =>
    name === command ? `-${kind} 42 127.0.0.1:${String(port)}\r\n` : undefined;

describe('a slot of a cluster that moves between INCRBY and EXPIRE', () => {
  it.each([
    ['MOVED', 0],
    ['ASK', 1],
  ] as const)(
    '(%s) is followed by EXPIRE alone, and no hit is counted twice',
    async (kind, asked) => {
      const { counters, sent } = await startCluster(redirecting('expire', kind));
      const { after, failures } = await counters.add(batch([increment(freshKey())]));
      expect([after, failures]).toEqual([[1], undefined]);
      expect([sent('incrby'), sent('expire'), sent('asking')]).toEqual([
        [1, 0],
        [1, 1],
        [0, asked],
      ]);
      expect(counters.statistics.get(UNKNOWN) ?? 0).toBe(0);
    },
  );

  it('is an unknown outcome where the other node refuses EXPIRE too', async () => {
    const refusing: Lie = ([name]) => (name === 'expire' ? '-NOPERM no\r\n' : undefined);
    const { counters, sent } = await startCluster(redirecting('expire', 'MOVED'), refusing);
    await expect(counters.add(batch([increment(freshKey())]))).rejects.toMatchObject({
      fault: 'answer',
      message: expect.stringMatching(/counted the hits and then answered: .*NOPERM no/) as string,
    });
    expect([sent('incrby'), counters.statistics.get(UNKNOWN)]).toEqual([[1, 0], 1]);
  });

  it('is followed by what lifts a counter to 0, and by that alone', async () => {
    const { counters, sent } = await startCluster(({ port }) => ([name, , by = '']) => {
      if (name !== 'incrby') return undefined;
      return by.startsWith('-') ? ':-2\r\n' : `-MOVED 42 127.0.0.1:${String(port)}\r\n`;
    });
    const { after, failures } = await counters.add(batch([increment(freshKey(), -5)]));
    expect([after, failures]).toEqual([[0], undefined]);
    expect(sent('incrby')).toEqual([2, 1]);
  });
});

describe.each([
  ['scripts', true],
  ['plain commands', false],
] as const)('a user who may not EXPIRE, by %s', (_, scripts) => {
  it('counts, and hears that the outcome is unknown', async () => {
    const server = await startRedisServer();
    ends.push(() => server.stop());
    const counters = await connectRedisCounters({ address: server.address, scripts });
    const refusal = noPermissionFor('expire');
    await refusal.mount(server);
    const [key, other] = [freshKey(), freshKey()];
    await expect(counters.add(batch([increment(key, 3)]))).rejects.toMatchObject({
      fault: 'answer',
      message: expect.stringMatching(/counted the hits and then answered: /) as string,
    });
    expect(await server.client.get(key)).toBe('3');
    expect(counters.statistics.get(UNKNOWN)).toBe(1);
    await refusal.clear(server);
    await eventually(async () => {
      expect((await counters.add(batch([increment(other)]))).after).toEqual([1]);
    });
    expect(counters.kinds()).toEqual(['connected']);
  });

  it('is named when connecting, once until it may', async () => {
    const server = await startRedisServer();
    ends.push(() => server.stop());
    const refusal = noPermissionFor('expire');
    await refusal.mount(server);
    const counters = await connectRedisCounters({ address: server.address, scripts });
    const named = () => counters.events.filter(({ kind }) => kind === 'expire-refused');
    const reason = expect.stringMatching(/^NOPERM .*'expire'/) as string;
    const store = `127.0.0.1:${String(server.port)}`;
    expect(named()).toEqual([{ kind: 'expire-refused', store, reason }]);
    const untilConnectedAgain = async (times: number) => {
      await server.client.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
      await eventually(() => {
        expect(counters.kinds().filter((kind) => kind === 'connected')).toHaveLength(times);
      });
    };
    await untilConnectedAgain(2);
    expect(named()).toHaveLength(1);
    await refusal.clear(server);
    await untilConnectedAgain(3);
    await refusal.mount(server);
    await untilConnectedAgain(4);
    expect(named()).toHaveLength(2);
  });

  it('is not asked for with a key that counts: a user of some keys alone is not named', async () => {
    const server = await startRedisServer();
    ends.push(() => server.stop());
    await server.client.call('ACL', 'SETUSER', 'weir', 'on', '>pass', '+@all', '~shop*');
    const auth = { username: 'weir', password: 'pass' };
    const counters = await connectRedisCounters({ address: server.address, scripts, auth });
    expect(counters.kinds()).toEqual(['connected']);
  });
});
