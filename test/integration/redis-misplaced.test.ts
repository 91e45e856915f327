import { batch, freshKey, increment } from '../contract/counters.contract';
import { eventually } from '../support/edge/eventually';
import { CLOSES, startLyingRedis, type LyingRedis } from '../support/lying-redis';
import { connectRedisCounters, stopRedisCounters } from '../support/edge/redis-counters';

let server: LyingRedis;
afterEach(async () => {
  await stopRedisCounters();
  await server.close();
});

const one = () => batch([increment(freshKey())]);

describe('a server of another kind, whose access list keeps the keys of the question from the user', () => {
  it.each([
    ['a replica', 'READONLY no', /^it is a replica: name its master, .*: READONLY no$/, false],
    [
      'a node of a cluster',
      'MOVED 1 127.0.0.1:1',
      /^it is one node of a cluster: .*=cluster\)/,
      true,
    ],
  ])(
    '(%s) is noticed by the first answer to a call, until calls are right again',
    async (_, answer, reason, isUsed) => {
      server = await startLyingRedis();
      const advice = expect.stringMatching(/KVSTORE_TYPE=/) as string;
      const refuse = (words: readonly string[]) =>
        words[0]?.toLowerCase() === 'expire' && words[1]?.startsWith('weir:') === true
          ? '-NOPERM this user has no permissions to access one of the keys used as arguments\r\n'
          : undefined;
      server.lie = (words) =>
        refuse(words) ?? (words[0] === 'incrby' ? `-${answer}\r\n` : undefined);
      server.reply = ':1\r\n';
      const address = { kind: 'tcp', host: '127.0.0.1', port: server.port } as const;
      const counters = await connectRedisCounters({ address, scripts: false });
      expect(counters.kinds()).not.toContain('misplaced');
      await expect(counters.add(one())).rejects.toThrow(answer);
      const said = expect.stringMatching(reason) as string;
      expect(counters.events).toContainEqual(
        expect.objectContaining({ kind: 'misplaced', reason: said, advice, isUsed }),
      );
      // It serves, and one of several then says on a new connection that it takes every key.
      server.lie = isUsed ? ([name]) => (name === 'incrby' ? CLOSES : undefined) : refuse;
      if (isUsed) await expect(counters.add(one())).rejects.toThrow('was lost');
      server.lie = isUsed ? () => undefined : refuse;
      await eventually(async () => {
        await counters.add(one());
        expect(counters.kinds()).toContain('placed');
      });
    },
  );
});
