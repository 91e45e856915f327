import { UnknownOutcome } from '../../src/counters/redis/store-errors';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { startRedisProxy, type RedisProxyOptions } from '../support/edge/envoy-redis-proxy';
import { stopEnvoys } from '../support/edge/envoy';
import { eventually } from '../support/edge/eventually';
import { PROGRAMS } from '../support/edge/programs';
import { runRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';

jest.setTimeout(60_000);

const UNKNOWN = 'ratelimit.service.call.should_rate_limit.store_unknown_outcome';

const program = PROGRAMS.envoy();
const whereEnvoyIs = program === undefined ? describe.skip : describe;

whereEnvoyIs("behind Envoy's redis_proxy", () => {
  const servers: RedisServer[] = [];
  afterEach(async () => {
    await stopRedisCounters();
    await stopEnvoys();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  async function start(): Promise<RedisServer> {
    const server = await startRedisServer();
    servers.push(server);
    return server;
  }
  const startProxy = (ports: readonly number[], options?: RedisProxyOptions) =>
    startRedisProxy(program as string, ports, options);
  const one = (key = freshKey()) => batch([increment(key)]);

  it('counts by plain commands, with one line about scripts', async () => {
    const server = await start();
    const { address } = await startProxy([server.port]);
    const counters = runRedisCounters({ address });
    await counters.untilConnected();
    const key = freshKey();
    expect((await counters.add(one(key))).after).toEqual([1]);
    expect(await server.client.get(key)).toBe('1');
    expect(counters.kinds()).toEqual(['scripts-refused', 'connected']);
  });

  it.each([
    ['upstream failure', async () => [await startAndStop()]],
    ['no upstream host', () => Promise.resolve([])],
  ] as const)(
    'is not connected while the Redis is away, though Envoy answers PING: %s',
    async (answer, redisPorts) => {
      const { address } = await startProxy(await redisPorts());
      const counters = runRedisCounters({ address });
      await eventually(() => {
        const reason = `the proxy cannot reach its Redis: ${answer}`;
        expect(counters.events).toContainEqual(
          expect.objectContaining({ kind: 'unreachable', reason }),
        );
      });
      expect(counters.states).toEqual([false]);
    },
  );
  async function startAndStop(): Promise<number> {
    const server = await startRedisServer();
    await server.stop();
    return server.port;
  }

  it('does not know what became of hits that Envoy has no answer for, and is not connected until the Redis is back', async () => {
    const server = await start();
    const { address } = await startProxy([server.port], { opTimeoutMs: 100 });
    const counters = runRedisCounters({ address });
    await counters.untilConnected();
    const key = freshKey();
    server.pause();
    const error: unknown = await counters.add(one(key)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UnknownOutcome);
    expect(error).toMatchObject({
      code: 'store_unavailable',
      fault: 'store',
      message: expect.stringMatching(/may or may not be counted: upstream failure$/) as string,
    });
    expect(counters.statistics.get(UNKNOWN)).toBe(1);
    await eventually(() => {
      expect(counters.states.at(-1)).toBe(false);
    });
    server.resume();
    await counters.untilConnected();
    // What Envoy gave up was counted all the same.
    expect((await counters.add(one(key))).after).toEqual([2]);
  });

  it('stays connected while one of two shards is away, for the counters of the other', async () => {
    const [well, lost] = [await start(), await start()];
    const { address } = await startProxy([well.port, lost.port]);
    const counters = runRedisCounters({ address });
    await counters.untilConnected();
    const keys = Array.from({ length: 64 }, () => freshKey());
    await counters.add(batch(keys.map((key) => increment(key))));
    await lost.kill();
    const { failures } = await counters.add(batch(keys.map((key) => increment(key))));
    expect(failures?.size).toBeGreaterThan(0);
    expect(failures?.size).toBeLessThan(keys.length);
    expect(counters.statistics.get(UNKNOWN)).toBe(1);
    const kept = keys.filter((_, at) => failures?.has(at) !== true);
    await counters.add(batch(kept.map((key) => increment(key))));
    for (const key of kept) expect(await well.client.get(key)).toBe('3');
    expect(counters.states).toEqual([false, true]);
  });

  it('refuses a database, to which all callers of the proxy would be moved', async () => {
    const server = await start();
    const { address } = await startProxy([server.port]);
    const other = runRedisCounters({ address });
    await other.untilConnected();
    const counters = runRedisCounters({ address, database: 3 });
    await eventually(() => {
      expect(counters.events).toContainEqual(
        expect.objectContaining({
          kind: 'unreachable',
          reason:
            "it is Envoy's redis_proxy, where selecting database 3 would move all its callers: leave the database out",
        }),
      );
    });
    const key = freshKey();
    await other.add(one(key));
    expect(await server.client.get(key)).toBe('1');
  });

  it('names the setting of a proxy that takes RESP3 alone', async () => {
    const server = await start();
    const { address } = await startProxy([server.port], { protocolVersion: 'RESP3' });
    const counters = runRedisCounters({ address });
    await eventually(() => {
      expect(counters.events).toContainEqual(
        expect.objectContaining({
          kind: 'unreachable',
          reason:
            "it takes RESP3 alone, and this service speaks RESP2: remove protocol_version from Envoy's redis_proxy (NOPROTO unsupported protocol version)",
        }),
      );
    });
  });
});
