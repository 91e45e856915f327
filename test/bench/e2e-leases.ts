import type { RedisServer } from '../support/edge/redis-server';
import { eventually } from '../support/edge/eventually';
import { startTcpProxy, type TcpProxy } from '../support/edge/tcp-proxy';
import { cpuMicros } from './cpu';
import { runGenerator } from './e2e-load';
import {
  DEFAULT_VARIANT,
  redisSettings,
  startMeasuredService,
  statsdSettings,
  type MeasuredService,
} from './e2e-service';
import type { GeneratorOrder } from './generator';
import { median } from './measure';

interface Case {
  readonly name: string;
  /** What the store is away, there and back. */
  readonly storeMs: number;
  readonly order: Omit<GeneratorOrder, 'host' | 'port' | 'varied'>;
}

const paced = (perSecond: number, keys: number) => ({
  ...{ connections: 10, inFlight: 0, perSecond, keys, requests: 6 * perSecond },
});

/** Each waits for the one before: none shares a turn with another. */
const ONE_BY_ONE = { connections: 1, inFlight: 1, perSecond: 0, keys: 100, requests: 30_000 };

const CASES: readonly Case[] = [
  { name: 'one by one, 100 keys', storeMs: 0, order: ONE_BY_ONE },
  { name: '5,000/s, five in a turn, 100 keys', storeMs: 0, order: paced(5_000, 100) },
  { name: '1,000/s, 10 keys, store 20 ms away', storeMs: 20, order: paced(1_000, 10) },
  { name: '1,000/s, 10 keys, store 150 ms away', storeMs: 150, order: paced(1_000, 10) },
  {
    // Three hits a second each; of 10,000 keys each would have more than LEASE_MIN_RATE.
    name: '10×100, 100,000 cold keys',
    storeMs: 0,
    order: { connections: 10, inFlight: 100, perSecond: 0, keys: 100_000, requests: 400_000 },
  },
];

/** One round of a case. */
interface Round {
  /** CPU of ours for a call. */
  readonly micros: number;
  /** Script calls of the store. */
  readonly storeCalls: number;
  readonly latencyMs: GeneratorReport['latencyMs'];
  readonly perSecond: number;
}

type GeneratorReport = Awaited<ReturnType<typeof runGenerator>>;

const QUIET = { ...DEFAULT_VARIANT, settings: { LOG_LEVEL: 'error', ...DEFAULT_VARIANT.settings } };

interface Measured {
  readonly service: MeasuredService;
  readonly rounds: Round[];
}

/** What leases save and cost: each load without them and with them, in turns. */
export async function benchLeases(
  redis: RedisServer,
  statsdPort: number,
  rounds: number,
): Promise<void> {
  const proxy = await startTcpProxy(redis.port);
  try {
    for (const one of CASES) {
      const port = one.storeMs === 0 ? redis.port : proxy.port;
      const start = async (leases: 'off' | 'on'): Promise<Measured> => {
        const env = {
          ...redisSettings(port),
          ...statsdSettings(statsdPort),
          KVSTORE_LEASES: leases,
        };
        return { service: await startMeasuredService(env, QUIET), rounds: [] };
      };
      await benchCase(one, [await start('off'), await start('on')], { redis, proxy, rounds });
    }
  } finally {
    await proxy.close();
  }
}

interface Store {
  readonly redis: RedisServer;
  readonly proxy: TcpProxy;
  readonly rounds: number;
}

async function benchCase(
  one: Case,
  both: readonly [Measured, Measured],
  { redis, proxy, rounds }: Store,
): Promise<void> {
  proxy.behaviour.answerDelayMs = one.storeMs;
  try {
    // Warm up: with the store far away the pool grows for some seconds, in which calls may fail.
    for (const { service } of both)
      await runGenerator({ ...one.order, port: service.port, varied: true });
    for (let round = 0; round < rounds; round += 1)
      for (const { service, rounds: kept } of both) kept.push(await playRound(one, service, redis));
    print(one, both);
  } finally {
    proxy.behaviour.answerDelayMs = 0;
    for (const { service } of both) await service.stop();
  }
}

async function playRound(
  { order }: Case,
  { pid, port }: MeasuredService,
  { client }: RedisServer,
): Promise<Round> {
  await client.flushall();
  await client.config('RESETSTAT');
  const before = cpuMicros(pid);
  const { ok, latencyMs, seconds } = await runGenerator({ ...order, port, varied: true });
  const micros = (cpuMicros(pid) - before) / order.requests;
  const storeCalls = await scriptCalls(client);
  // What lies unspent is given back.
  await eventually(async () => {
    const counted = await sumOfCounters(client);
    const texts = [order.requests, ok, counted].map(String);
    if (ok !== order.requests || counted !== order.requests)
      throw new Error(`of ${texts.join(' requests, were answered / counted: ')}`);
  });
  return { micros, storeCalls, latencyMs, perSecond: order.requests / seconds };
}

type Client = RedisServer['client'];

async function scriptCalls(client: Client): Promise<number> {
  const info = await client.info('commandstats');
  const calls = [...info.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)];
  return calls.reduce((sum, [, count]) => sum + Number(count), 0);
}

async function sumOfCounters(client: Client): Promise<number> {
  const keys = await client.keys('*');
  const counts = keys.length === 0 ? [] : await client.mget(keys);
  return counts.reduce((sum, count) => sum + Number(count), 0);
}

function print({ name, order }: Case, [off, on]: readonly [Measured, Measured]): void {
  const ratio = (of: (round: Round) => number): string =>
    median(on.rounds.map((round, at) => of(round) / of(off.rounds[at] as Round))).toFixed(2);
  const of = ({ rounds }: Measured, value: (round: Round) => number): number =>
    median(rounds.map(value));
  console.log(`\n${name}`);
  for (const [word, measured] of [
    ['off', off],
    ['on', on],
  ] as const) {
    const cpu = of(measured, ({ micros }) => micros).toFixed(1);
    const calls = of(measured, ({ storeCalls }) => storeCalls / order.requests).toFixed(3);
    const times = [0, 1].map((at) => of(measured, ({ latencyMs }) => latencyMs[at] as number));
    const latency = times.map((ms) => ms.toFixed(2)).join(' / ');
    const rate = Math.round(of(measured, ({ perSecond }) => perSecond));
    console.log(
      `  ${word.padEnd(4)} ${cpu} µs, ${calls} store calls a call, p50/p99 ${latency} ms, ${String(rate)}/s`,
    );
  }
  console.log(
    `  CPU ${ratio(({ micros }) => micros)} times, store calls ${ratio(({ storeCalls }) => storeCalls)} times`,
  );
}
