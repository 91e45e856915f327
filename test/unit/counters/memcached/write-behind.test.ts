import fc from 'fast-check';
import type { Increment } from '../../../../src/core/ports';
import type { NodeConnection, PendingCommand } from '../../../../src/counters/memcached/connection';
import { createNodeErrors } from '../../../../src/counters/memcached/store-errors';
import { createWriteBehind } from '../../../../src/counters/memcached/write-behind';
import { SOME_MATCH } from '../../../support/rules';
import { plain } from '../../../support/limiters';

/** A node with one counter that answers when it is told to. */
function setUp(start: number) {
  const waiting: { readonly command: string; readonly pending: PendingCommand }[] = [];
  let count = start;
  let commands = 0;
  const current = {
    send(command: string, [pending]: readonly PendingCommand[]) {
      waiting.push({ command, pending: pending as PendingCommand });
    },
  };
  const node = { kept: { current, reason: '' }, errors: createNodeErrors('node', () => true) };
  const writes = createWriteBehind(node as unknown as NodeConnection, {
    statistics: undefined,
    onNotAdded: (error) => {
      throw error;
    },
    onAdded: () => undefined,
  });
  const answerOne = (): void => {
    const { command, pending } = waiting.shift() ?? {};
    const [, name, hits] = /^(incr|decr) k (\d+)\r\n$/.exec(command ?? '') ?? [];
    count = name === 'incr' ? count + Number(hits) : Math.max(0, count - Number(hits));
    commands += 1;
    pending?.onLine(String(count));
  };
  return {
    writes,
    answerOne,
    answerAll() {
      commands = 0;
      while (waiting.length > 0) answerOne();
      return { count, commands };
    },
    read: () => writes.after('k', count),
  };
}

const increment = (hits: number): Increment => ({
  ...SOME_MATCH,
  key: 'k',
  hits,
  ...plain(1),
  ttlSeconds: 1,
  windowEndSeconds: 1,
});

it('hits that wait for a slow node come to what they do one by one, in three commands at most', () => {
  const hits = fc.integer({ min: -9, max: 9 }).filter((each) => each !== 0);
  fc.assert(
    fc.property(fc.nat({ max: 20 }), fc.array(hits, { minLength: 1 }), (start, all) => {
      const node = setUp(start);
      let expected = start;
      for (const each of all) {
        node.writes.add([increment(each)], 0);
        expected = Math.max(0, expected + each);
        expect(node.read()).toBe(expected);
      }
      const { count, commands } = node.answerAll();
      expect(count).toBe(expected);
      expect(commands).toBeLessThanOrEqual(3);
      expect(node.writes.size).toBe(0);
    }),
  );
});

it('hits that come between two answers are added after those on their way', () => {
  const node = setUp(5);
  for (const each of [3, -9, 4, 2, -1]) node.writes.add([increment(each)], 0);
  node.answerOne();
  node.writes.add([increment(7)], 0);
  expect(node.read()).toBe(12);
  expect(node.answerAll().count).toBe(12);
});
