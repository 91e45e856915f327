import { StoreError } from '../../src/core/errors';
import type { CounterReply } from '../../src/core/ports';
import { UnknownOutcome } from '../../src/counters/redis/store-errors';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { startLyingRedis, type LyingRedis } from '../support/lying-redis';
import { connectRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';

const servers: LyingRedis[] = [];

afterEach(async () => {
  await stopRedisCounters();
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(reply: string, takesScripts = true) {
  const server = await startLyingRedis({ takesScripts });
  servers.push(server);
  server.reply = reply;
  const counters = await connectRedisCounters({
    address: { kind: 'tcp', host: '127.0.0.1', port: server.port },
  });
  return counters;
}

const bulk = (hex: string): string => {
  const text = Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('latin1');
  return `$${String(text.length)}\r\n${text}\r\n`;
};
const two = () => [increment(freshKey()), increment(freshKey())];

/** What the counters make of an answer: the error of all, or which failed alone and the counts of the others. */
async function outcomeOf(adding: Promise<CounterReply>) {
  const reply = await adding.catch((error: unknown) => error);
  if (reply instanceof StoreError) return reply;
  const { after, failures } = reply as CounterReply;
  return { after, failed: [...(failures?.keys() ?? [])], kinds: [...(failures?.values() ?? [])] };
}

describe('an answer to a script that is', () => {
  it.each([
    ['a number', ':7\r\n'],
    ['a text', '+OK\r\n'],
    ['nothing', '$-1\r\n'],
    ['an empty list', '*0\r\n'],
    ['a list that is too short', '*1\r\n:1\r\n'],
    ['a list that is too long', '*3\r\n:1\r\n:1\r\n:1\r\n'],
    ['a packed number', bulk('07')],
    ['a packed text', bulk('a2 6869')],
    ['a packed list that is too short', bulk('91 01')],
    ['a packed list that is too long', bulk('93 01 01 01')],
  ])('%s fails all, and their outcome is unknown', async (_, reply) => {
    const counters = await start(reply);
    expect(await outcomeOf(counters.add(batch(two())))).toBeInstanceOf(UnknownOutcome);
  });

  it.each([
    ['NaN', bulk('92 05 cb 7ff8000000000000')],
    ['Infinity', bulk('92 05 cb 7ff0000000000000')],
    ['-Infinity', bulk('92 05 cb fff0000000000000')],
    ['a fraction', bulk('92 05 cb 3ff8000000000000')],
    ['a number below 0', bulk('92 05 ff')],
    ['2^64', bulk('92 05 cb 43f0000000000000')],
    ['a list', bulk('92 05 91 01')],
    ['nothing', '*2\r\n:5\r\n$-1\r\n'],
    ['a negative integer', '*2\r\n:5\r\n:-1\r\n'],
  ])('%s in place of one count fails that one', async (_, reply) => {
    const counters = await start(reply);
    const outcome = await outcomeOf(counters.add(batch(two())));
    expect(outcome).toMatchObject({ after: [5, 0], failed: [1] });
    expect(outcome).toHaveProperty('kinds', [expect.any(UnknownOutcome)]);
  });

  it('the largest count is one', async () => {
    const counters = await start(bulk('92 cb 43e0000000000000 00'));
    expect(await outcomeOf(counters.add(batch(two())))).toMatchObject({ after: [2 ** 63, 0] });
  });

  it.each([
    ['no list', ':1\r\n'],
    ['counts alone', bulk('92 01 01')],
    ['places that are none', bulk('92 92 01 01 01')],
    ['a place 0', bulk('92 92 01 01 91 00')],
    ['a place beyond the last', bulk('92 92 01 01 91 03')],
    ['a place that is a text', bulk('92 92 01 01 91 a1 31')],
  ])('%s where runs are held back fails all', async (_, reply) => {
    const counters = await start(reply);
    const runs = { ...batch(two()), groupEnds: [2] };
    expect(await outcomeOf(counters.add(runs))).toBeInstanceOf(UnknownOutcome);
  });
});

describe('where plain commands are used, an answer that is', () => {
  it.each([
    ['no number', '+OK\r\n'],
    ['nothing', '$-1\r\n'],
    ['a list', '*1\r\n:1\r\n'],
    ['a text of digits', '$1\r\n5\r\n'],
  ])('%s fails its counter', async (_, reply) => {
    const counters = await start(reply, false);
    expect(await outcomeOf(counters.add(batch(two())))).toBeInstanceOf(UnknownOutcome);
  });
});
