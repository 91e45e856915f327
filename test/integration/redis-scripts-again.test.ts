import { batch, freshKey, increment } from '../contract/counters.contract';
import { ask, slowRule } from '../support/algorithm-increments';
import { eventually } from '../support/edge/eventually';
import { eventuallyWithin } from '../support/edge/figure';
import { startLyingRedis } from '../support/lying-redis';
import { startRedisCluster } from '../support/edge/redis-cluster';
import {
  connectRedisCounters,
  stopRedisCounters,
  type RunningRedisCounters,
} from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { startTcpProxy } from '../support/edge/tcp-proxy';

jest.setTimeout(60_000);

/** A store that accepts scripts again is used with them within this time. */
const AGAIN_MS = 6_000;
const GCRA = slowRule('gcra');

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopRedisCounters();
  for (const end of ends.splice(0)) await end();
});

async function start(): Promise<RedisServer> {
  const server = await startRedisServer();
  ends.push(() => server.stop());
  return server;
}

const acl = ({ client }: RedisServer, ...rules: readonly string[]) =>
  client.call('ACL', 'SETUSER', 'default', ...rules);

async function askOnce(counters: RunningRedisCounters): Promise<void> {
  const { failures } = await counters.add(batch([ask(GCRA, freshKey())]));
  const [failure] = failures?.values() ?? [];
  if (failure !== undefined) throw failure;
}

const untilScriptsAreBack = (counters: RunningRedisCounters) =>
  eventuallyWithin(() => askOnce(counters), {
    name: 'scripts are used again',
    belowMs: AGAIN_MS,
  });

it.each([
  ['EVALSHA', ['-evalsha'], ['+evalsha']],
  ['all scripts', ['-eval', '-evalsha'], ['+eval', '+evalsha']],
])('%s refused during one call are used again on the same connection', async (_, no, yes) => {
  const server = await start();
  const counters = await connectRedisCounters({ address: server.address });
  await askOnce(counters);
  await acl(server, ...no);
  await expect(askOnce(counters)).rejects.toThrow('needs scripts');
  expect(counters.lacksScripts()).toBe(true);
  // It is asked meanwhile, and stays without while that is refused.
  await eventually(async () => {
    expect(await server.client.info('commandstats')).toMatch(
      /cmdstat_evalsha:.*rejected_calls=[2-9]|cmdstat_eval:.*rejected_calls=[1-9]/,
    );
  });
  await expect(askOnce(counters)).rejects.toThrow('needs scripts');
  await acl(server, ...yes);
  await untilScriptsAreBack(counters);
  expect(counters.lacksScripts()).toBe(false);
  expect(counters.kinds()).toEqual([
    'connected',
    'scripts-refused',
    'scripts-needed',
    'scripts-taken',
  ]);
});

it.each([
  ['EVAL', ['-eval'], ['+eval']],
  ['EVALSHA alone', ['-evalsha'], ['+evalsha']],
])('%s refused to a new connection is used by it later on', async (_, no, yes) => {
  const server = await start();
  await acl(server, ...no);
  const counters = await connectRedisCounters({ address: server.address });
  expect(counters.kinds()).toEqual(['scripts-refused', 'connected']);
  await acl(server, ...yes);
  await untilScriptsAreBack(counters);
});

it.each(['closes', 'resets'])(
  'a proxy that %s connections with scripts is asked over others, and calls go on',
  async (how) => {
    const server = await start();
    const proxy = await startTcpProxy(server.port);
    ends.push(() => proxy.close());
    proxy.behaviour.closeOn = /eval|script/i;
    proxy.behaviour.closesWithReset = how === 'resets';
    const counters = await connectRedisCounters({
      address: { kind: 'tcp', host: '127.0.0.1', port: proxy.port },
    });
    expect(counters.kinds()).toEqual(['scripts-refused', 'connected']);
    const { accepted } = proxy;
    const key = freshKey();
    let calls = 0;
    await eventually(async () => {
      calls += 1;
      expect((await counters.add(batch([increment(key)]))).failures).toBeUndefined();
      expect(proxy.accepted).toBeGreaterThan(accepted + 1);
    });
    expect(await server.client.get(key)).toBe(String(calls));
    proxy.behaviour.closeOn = undefined;
    await untilScriptsAreBack(counters);
    expect(counters.kinds()).not.toContain('disconnected');
  },
);

it('each node of a cluster has them back', async () => {
  const cluster = await startRedisCluster();
  ends.push(() => cluster.stop());
  const counters = await connectRedisCounters({ address: cluster.address });
  const keys = Array.from({ length: 50 }, freshKey);
  const askAll = async () => {
    const adding = counters.add(batch(keys.map((key) => ask(GCRA, key))));
    const { failures } = await adding.catch(() => ({ failures: new Set(keys) }));
    return failures?.size ?? 0;
  };
  await eventually(async () => {
    expect(await askAll()).toBe(0);
  });
  for (const server of cluster.masters) await acl(server, '-evalsha');
  expect(await askAll()).toBe(50);
  for (const server of cluster.masters) await acl(server, '+evalsha');
  await eventuallyWithin(
    async () => {
      expect(await askAll()).toBe(0);
    },
    { name: 'scripts are used again', belowMs: AGAIN_MS },
  );
});

const CROSSSLOT = "CROSSSLOT Keys in request don't hash to the same slot";
const UNDECLARED = 'ERR undeclared key';
/** A script answers for its keys by texts. */
const refusedInside = (words: string) => `*1\r\n$${String(words.length)}\r\n${words}\r\n`;

const isWithKeysAsked = (words: readonly string[]) =>
  words.some((word) => word.startsWith('weir:keys-asked:'));

/** A server of all slots that takes scripts without keys, and others when it is not refusing. */
async function startRefusingKeys(words: string, ofOurs: string) {
  const server = await startLyingRedis();
  ends.push(() => server.close());
  const { port } = server;
  const refusing = { now: true };
  const slots = `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:${String(port)}\r\n`;
  const ofScripts = (all: readonly string[]): string | undefined => {
    if (all.length === 3) return undefined;
    if (!refusing.now) return '*0\r\n';
    return isWithKeysAsked(all) ? `-${words}\r\n` : ofOurs;
  };
  server.lie = (all) => {
    const [name = '', what = ''] = all;
    switch (name.toLowerCase()) {
      case 'cluster':
        return what.toLowerCase() === 'slots' ? slots : '$16\r\ncluster_state:ok\r\n';
      case 'incrby':
        return ':1\r\n';
      case 'eval':
      case 'evalsha':
        return ofScripts(all);
      default:
        return undefined;
    }
  };
  const questions = () => server.received.filter(isWithKeysAsked).length;
  return { place: { host: '127.0.0.1', port }, refusing, questions };
}

it.each([
  ['CROSSSLOT to scripts of fixed windows', false, increment],
  ['CROSSSLOT to scripts of gcra', false, (key: string) => ask(GCRA, key)],
  ['undeclared keys in scripts of a cluster', true, increment],
])('%s: a question without keys, which passes, heals nothing', async (_, isCluster, hit) => {
  const { place, refusing, questions } = isCluster
    ? await startRefusingKeys(UNDECLARED, refusedInside(UNDECLARED))
    : await startRefusingKeys(CROSSSLOT, `-${CROSSSLOT}\r\n`);
  const counters = await connectRedisCounters({
    address: isCluster ? { kind: 'cluster', nodes: [place] } : { kind: 'tcp', ...place },
  });
  await counters.add(batch([hit(freshKey())])).catch(() => undefined);
  await eventually(() => {
    expect(questions()).toBeGreaterThan(1);
  });
  expect(counters.lacksScripts()).toBe(true);
  expect(counters.kinds()).not.toContain('scripts-taken');
  refusing.now = false;
  await eventually(() => {
    expect(counters.lacksScripts()).toBe(false);
  });
});

it('a store that shall have no scripts lacks none', async () => {
  const server = await start();
  const counters = await connectRedisCounters({ address: server.address, scripts: false });
  expect(counters.lacksScripts()).toBe(false);
});
