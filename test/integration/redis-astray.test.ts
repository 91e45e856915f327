import { Subscription } from 'rxjs';
import { logRedisEvent } from '../../src/app/log-store-event';
import { createOutageLog } from '../../src/app/outage-log';
import { createRedirectTargets } from '../../src/counters/redis/cluster/redirect-targets';
import type { RedisNode } from '../../src/counters/redis/node';
import type { RedisEvent } from '../../src/counters/redis/options';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { startLyingRedis } from '../support/lying-redis';
import { createRecordingLogger } from '../support/recording-logger';
import { runRedisCounters, stopRedisCounters } from '../support/redis-counters';

let subscription = Subscription.EMPTY;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopRedisCounters();
  subscription.unsubscribe();
  for (const end of ends.splice(0)) await end();
});

const bulk = (text: string | number) => `$${String(String(text).length)}\r\n${String(text)}\r\n`;

/** A node that owns all slots and redirects each command with a key to another address. */
async function startStrayNode() {
  const server = await startLyingRedis();
  ends.push(() => server.close());
  let named = 0;
  server.lie = (words) => {
    const [name = '', what = ''] = words;
    switch (name.toLowerCase()) {
      case 'cluster':
        return what.toLowerCase() === 'slots'
          ? `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n${bulk('127.0.0.1')}:${String(server.port)}\r\n`
          : bulk('cluster_state:ok');
      case 'evalsha':
      case 'eval':
        if (words.length === 3) return '*0\r\n';
        named += 1;
        return `-MOVED 1 127.0.0.${String((named % 250) + 2)}:${String(20_000 + named)}\r\n`;
      case 'incrby':
        named += 1;
        return `-MOVED 1 127.0.0.${String((named % 250) + 2)}:${String(20_000 + named)}\r\n`;
      default:
        return undefined;
    }
  };
  return { server, named: () => named };
}

it('ever other addresses that a node redirects to are few at a time, and one outage in the log', async () => {
  const { server, named } = await startStrayNode();
  const nodes = [{ host: '127.0.0.1', port: server.port }];
  const counters = runRedisCounters({ address: { kind: 'cluster', nodes } });
  await counters.untilConnected();
  for (let calls = 0; calls < 200; calls += 1)
    await expect(counters.add(batch([increment(freshKey())]))).rejects.toThrow();
  expect(named()).toBeGreaterThan(150);
  const strays = counters.events.filter(
    ({ kind, store }) => kind === 'unreachable' && !store.endsWith(`:${String(server.port)}`),
  );
  expect(strays).toEqual([]);
  const { logger, lines } = createRecordingLogger();
  const outages = createOutageLog({ logger, monotonicMs: () => performance.now() });
  subscription = outages.run$.subscribe();
  for (const event of counters.events) logRedisEvent(logger, outages, event);
  const warned = lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  expect(new Set(warned).size).toBe(1);
  // The first address, and at once that there are too many.
  expect(warned.length).toBeLessThanOrEqual(2);
  expect(outages.open()).toHaveLength(1);
});

describe('targets of redirects', () => {
  const nodeAt = (port: number) => ({ store: `127.0.0.1:${String(port)}` }) as RedisNode;

  function start() {
    const events: RedisEvent[] = [];
    let nowMs = 0;
    const targets = createRedirectTargets({
      monotonicMs: () => nowMs,
      onEvent: (event) => events.push(event),
      store: 'cluster a:1',
    });
    return { targets, events, pass: (ms: number) => (nowMs += ms) };
  }

  it('are 32 at most, until they were not named for 10 s', () => {
    const { targets, events, pass } = start();
    for (let port = 1; port <= 32; port += 1) {
      expect(targets.isFull()).toBe(false);
      targets.keep(nodeAt(port));
    }
    expect(targets.isFull()).toBe(true);
    pass(10_001);
    targets.drop(new Set());
    expect([...targets.nodes]).toEqual([]);
    expect(targets.isFull()).toBe(false);
    expect(events).toEqual([
      {
        kind: 'redirects-astray',
        store: 'cluster a:1',
        reason: 'more than 32 addresses that own no slot',
      },
      { kind: 'redirects-followed', store: 'cluster a:1' },
    ]);
  });

  it('are none any more once they own slots', () => {
    const { targets } = start();
    const node = nodeAt(1);
    targets.keep(node);
    targets.drop(new Set([node]));
    expect([...targets.nodes]).toEqual([]);
  });
});

it('an outage of an address that left the store ends, and leaves no timer', () => {
  const { logger, lines } = createRecordingLogger();
  const outages = createOutageLog({ logger, monotonicMs: () => performance.now() });
  subscription = outages.run$.subscribe();
  const store = '127.0.0.1:7000';
  const away = { reason: 'refused', attempts: 1, nextAttemptMs: 1 };
  logRedisEvent(logger, outages, { kind: 'unreachable', store, ...away });
  expect(outages.open()).toHaveLength(1);
  logRedisEvent(logger, outages, { kind: 'left', store });
  expect(outages.open()).toEqual([]);
  expect(lines.at(-1)?.message).toBe(
    'the store at 127.0.0.1:7000 was away and no longer belongs to the stores',
  );
  logRedisEvent(logger, outages, { kind: 'left', store });
  expect(lines).toHaveLength(2);
});
