import { Subscription } from 'rxjs';
import { logRedisEvent } from '../../src/app/store/log-store-event';
import { createOutageLog } from '../../src/app/outage-log';
import { createRedirectTargets } from '../../src/counters/redis/cluster/cluster-nodes';
import type { RedisNode } from '../../src/counters/redis/node';
import type { RedisEvent } from '../../src/counters/redis/options';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { eventually } from '../support/edge/eventually';
import { startLyingRedis } from '../support/lying-redis';
import { createRecordingLogger } from '../support/recording-logger';
import { connectRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';

let subscription = Subscription.EMPTY;
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await stopRedisCounters();
  subscription.unsubscribe();
  for (const end of ends.splice(0)) await end();
});

const bulk = (text: string | number) => `$${String(String(text).length)}\r\n${String(text)}\r\n`;

const MAX_ADDRESSES = 32;

const slotsOf = (port: number) =>
  `*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n${bulk('127.0.0.1')}:${String(port)}\r\n`;

/** A node that owns all slots and redirects each command with a key to another address. */
async function startStrayNode(portOf: (named: number) => number) {
  const server = await startLyingRedis();
  ends.push(() => server.close());
  let named = 0;
  let slotReads = 0;
  const redirect = (): string => {
    named += 1;
    return `-MOVED 1 127.0.0.${String((named % 250) + 2)}:${String(portOf(named))}\r\n`;
  };
  server.lie = (words) => {
    const [name = '', what = ''] = words;
    switch (name.toLowerCase()) {
      case 'cluster':
        if (what.toLowerCase() !== 'slots') return bulk('cluster_state:ok');
        slotReads += 1;
        return slotsOf(server.port);
      case 'evalsha':
      case 'eval':
        return words.length === 3 ? '*0\r\n' : redirect();
      case 'incrby':
        return redirect();
      default:
        return undefined;
    }
  };
  return {
    port: server.port,
    named: () => named,
    slotReads: () => slotReads,
  };
}

/** Timers that keep the process alive. */
const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;

function startOutageLog() {
  const { logger, lines } = createRecordingLogger();
  const outages = createOutageLog({ logger, monotonicMs: () => performance.now() });
  subscription = outages.run$.subscribe();
  const onEvent = (event: RedisEvent) => {
    logRedisEvent(logger, outages, event);
  };
  return { outages, onEvent, lines };
}

async function startAstray(portOf = (named: number) => 20_000 + named) {
  const node = await startStrayNode(portOf);
  const log = startOutageLog();
  // It stands still, so that slots are read for a reason and not since time has passed.
  let nowMs = 0;
  const counters = await connectRedisCounters(
    { address: { kind: 'cluster', nodes: [{ host: '127.0.0.1', port: node.port }] } },
    { monotonicMs: () => nowMs, onEvent: log.onEvent },
  );
  const fail = () => expect(counters.add(batch([increment(freshKey())]))).rejects.toThrow();
  return { node, log, counters, fail, pass: (ms: number) => (nowMs += ms) };
}

it('ever other addresses that a node redirects to are few at a time, one outage in the log, and gone with it', async () => {
  const { node, log, counters, fail, pass } = await startAstray();
  const before = timers();
  const startMs = performance.now();
  for (let calls = 0; calls < 200; calls += 1) await fail();
  expect(node.named()).toBeGreaterThan(150);
  const own = `:${String(node.port)}`;
  const strays = counters.events.filter(
    ({ kind, store }) => kind === 'unreachable' && !store.endsWith(own),
  );
  expect(strays).toEqual([]);
  const reasons = () =>
    counters.events.flatMap((event) => (event.kind === 'redirects-astray' ? [event.reason] : []));
  const tooMany = `more than ${String(MAX_ADDRESSES)} addresses that own no slot`;
  expect(reasons()).toContain(tooMany);
  const tried = new Set(reasons().filter((reason) => reason !== tooMany));
  const addresses = new Set([...tried].map((reason) => /^[\d.]+:\d+/.exec(reason)?.[0]));
  expect(addresses.size).toBeLessThanOrEqual(MAX_ADDRESSES);
  const warned = log.lines.filter(({ level }) => level === 'warn').map(({ message }) => message);
  expect(new Set(warned).size).toBe(1);
  // The first address, at once that there are too many, and what changed at most every five seconds after that.
  const changes = Math.floor((performance.now() - startMs) / 5_000);
  expect(warned.length).toBeLessThanOrEqual(2 + changes);
  expect(log.outages.open()).toHaveLength(1);

  pass(10_001);
  await eventually(() => {
    expect(counters.events).toContainEqual(expect.objectContaining({ kind: 'redirects-followed' }));
    expect(log.outages.open()).toEqual([]);
    expect(timers()).toBe(before);
  });
  const left = counters.events.filter(({ kind }) => kind === 'left');
  expect(left).toHaveLength(MAX_ADDRESSES);
});

it('a redirect that is not followed, since there are too many, lets the slots be read at once', async () => {
  // They answer: a node that cannot be reached lets slots be read as well.
  const others = await startLyingRedis({ host: '0.0.0.0' });
  ends.push(() => others.close());
  others.reply = ':1\r\n';
  const { node, counters, fail, pass } = await startAstray(() => others.port);
  for (let calls = 0; calls < MAX_ADDRESSES; calls += 1)
    expect((await counters.add(batch([increment(freshKey())]))).after).toEqual([1]);
  for (let reads = 0; reads < 3; reads += 1) {
    const before = node.slotReads();
    pass(100);
    await fail();
    await eventually(() => {
      expect(node.slotReads()).toBeGreaterThan(before);
    });
  }
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

  it('are none any more once they own slots', () => {
    const { targets } = start();
    const node = nodeAt(1);
    targets.keep(node);
    targets.drop(new Set([node]));
    expect([...targets.nodes]).toEqual([]);
  });
});
