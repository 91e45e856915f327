import type { RedisCountersOptions } from '../../src/counters/redis/options';
import { startLyingRedis, type LyingRedis } from '../support/lying-redis';
import { list, rightAnswer } from '../support/redis-answers';
import { runRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';

let server: LyingRedis;
beforeEach(async () => {
  server = await startLyingRedis();
});
afterEach(async () => {
  await stopRedisCounters();
  await server.close();
});

const ofSentinel = (what: string | undefined): string =>
  what === 'master' ? list('config-epoch', '1') : list('127.0.0.1', String(server.port));

const answerTo = ([name = '', what]: readonly string[]): string => {
  if (name === 'SENTINEL') return ofSentinel(what);
  if (name.startsWith('eval')) return server.greeting;
  return rightAnswer([name]) ?? '+OK\r\n';
};

/** Answers when one of these has come, also to what came before: who waits for an answer sooner waits for ever. */
function answerAfter(...commands: readonly string[]): void {
  let held = '';
  server.lie = (words) => {
    const [name = ''] = words;
    if (/^(?:SENTINEL|subscribe)$/.test(name)) return answerTo(words);
    held += answerTo(words);
    if (!commands.includes(name)) return '';
    const answers = held;
    held = '';
    return answers;
  };
}

const tcp = () => ({ kind: 'tcp', host: '127.0.0.1', port: server.port }) as const;
const auth = { username: undefined, password: 'secret' };

it.each<[string, () => Pick<RedisCountersOptions, 'address'> & Partial<RedisCountersOptions>]>([
  ['in use', () => ({ address: tcp() })],
  ['of a database with a password', () => ({ address: tcp(), auth, database: 2 })],
])('a server %s is ready after two round trips', async (_, options) => {
  answerAfter('PING', 'EXPIRE');
  await runRedisCounters(options()).untilConnected();
  expect(server.received.map(([name]) => name)).toContain('EVALSHA');
});

it('so is a master that sentinels name, which is asked for its role besides', async () => {
  answerAfter('ROLE', 'EXPIRE');
  const { host, port } = tcp();
  const address = { kind: 'sentinel', masterName: 'limits', sentinels: [{ host, port }] } as const;
  await runRedisCounters({ address }).untilConnected();
});
