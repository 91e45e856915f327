import { type Redis } from 'ioredis';
import { type RedisConnection } from '../../src/counters/redis/connection';
import {
  CLUSTER_SCRIPTS,
  SCRIPTS,
  type Script,
  type Scripts,
} from '../../src/counters/redis/lua/scripts';
import { addByScript } from '../../src/counters/redis/add-by-script';
import { toAnswerError, UnknownOutcome } from '../../src/counters/redis/store-errors';
import { batch, freshKey, increment } from '../contract/counters.contract';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';

let server: RedisServer;

beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

/** As the server would run it if it had other libraries, or an answer of its own. */
const changed = (script: Script, from: string, to: string): Script => {
  const source = script.source.replace(from, to);
  if (source === script.source) throw new Error(`the script does not hold ${from}`);
  return { source, sha: '0'.repeat(40) };
};
const change = (scripts: Scripts, from: string, to: string): Scripts => ({
  ...scripts,
  add: changed(scripts.add, from, to),
  holdBack: changed(scripts.holdBack, from, to),
});

const connectionWith = (client: Redis, scripts: Scripts) =>
  ({
    store: '127.0.0.1:1',
    client,
    scripts,
    refuseScripts: () => undefined,
    toAnswerError: (answer: string) => toAnswerError('test', answer),
  }) as unknown as RedisConnection;

describe.each([
  ['of one server', SCRIPTS],
  ['of a cluster', CLUSTER_SCRIPTS],
])('the scripts %s', (_, scripts) => {
  const without = change(scripts, 'cmsgpack', 'missing');

  it('answer the same with and without MessagePack', async () => {
    const answers = await Promise.all(
      [scripts, without].map(async (each) => {
        const [plain, text, large] = [freshKey(), freshKey(), freshKey()];
        await server.client.rpush(text, 'no counter');
        const increments = [
          increment(plain, 3, { limit: 5 }),
          increment(text),
          increment(large, 2 ** 40),
          increment(plain, 200),
          increment(plain, -500),
        ];
        const connection = connectionWith(server.client, each);
        const alone = await addByScript(connection, batch(increments));
        const runs = {
          ...batch([increment(plain, 6, { limit: 5 }), increment(large, 1, { limit: 2 ** 41 })]),
          groupEnds: [2],
        };
        return [alone, await addByScript(connection, runs)];
      }),
    );
    expect(answers[0]).toEqual(answers[1]);
    const [alone, runs] = answers[0] ?? [];
    expect(alone?.after).toEqual([3, 0, 2 ** 40, 203, 0]);
    expect([...(alone?.failures?.keys() ?? [])]).toEqual([1]);
    expect(runs).toMatchObject({ after: [6, 2 ** 40], held: [false, true] });
  });

  it.each(['-5', '-100000', '2.5', '1e300', 'nan'])(
    'hold back beside a counter that somebody else set to %s',
    async (foreign) => {
      const [odd, over] = [freshKey(), freshKey()];
      await server.client.set(odd, foreign);
      const runs = { ...batch([increment(odd), increment(over, 6, { limit: 5 })]), groupEnds: [2] };
      const [packed, listed] = [
        await addByScript(connectionWith(server.client, scripts), runs),
        await addByScript(connectionWith(server.client, without), runs),
      ];
      expect(packed.after[1]).toBe(6);
      expect(listed.after[1]).toBe(12);
    },
  );

  it('leave the outcome open when their answer cannot be read', async () => {
    const packing = "return function(value) return cmsgpack.pack(value) .. 'x' end";
    const broken = change(scripts, 'return cmsgpack.pack', packing);
    const adding = addByScript(
      connectionWith(server.client, broken),
      batch([increment(freshKey())]),
    );
    await expect(adding).rejects.toThrow(UnknownOutcome);
    await expect(adding).rejects.toThrow(
      'an answer of redis 127.0.0.1:1 cannot be read, its hits may or may not be counted: 1 bytes follow',
    );
  });
});
