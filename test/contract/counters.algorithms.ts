import fc from 'fast-check';
import { type Algorithm } from '../../src/core/algorithms/algorithm';
import { outcomeOf } from '../../src/core/algorithms/outcome';
import { type CounterState } from '../../src/core/algorithms/counter-state';
import type { CounterReply, Increment } from '../../src/core/ports';
import { AlgorithmCounter } from '../support/algorithm-counter';
import { ask, keyFor, slowRule, usedHits } from '../support/algorithm-increments';
import { batch, freshKey, increment, type CountersUnderTest } from '../support/increments';

const gcra = slowRule('gcra');
const sliding = slowRule('sliding_window');
const guarded = slowRule('fixed_window');
const ALL = [gcra, sliding, guarded] as const;

function hitsOf(reply: CounterReply, algorithms: readonly Algorithm[]): readonly number[] {
  return algorithms.map((algorithm, at) => usedHits(reply.states?.[at], algorithm));
}

/** What a store keeps that knows algorithms. */
export function describeAlgorithms(store: () => CountersUnderTest): void {
  const add = (increments: readonly Increment[], groupEnds?: readonly number[]) =>
    store().counters.add(batch(increments, groupEnds));

  describe('algorithms', () => {
    it('says nothing of them where none is asked', async () => {
      expect(await add([increment(freshKey())])).not.toHaveProperty('states');
    });

    it('says where each counter knownState before its asks, beside the counts of others', async () => {
      const [a, b, c, d] = [freshKey(), freshKey(), freshKey(), freshKey()];
      const asked = () => [
        increment(a, 3),
        ask(gcra, b, 4),
        increment(a),
        ask(sliding, c, 2, 3),
        ask(guarded, d, 7),
      ];
      const first = await add(asked());
      expect([first.after[0], first.after[2], first.failures]).toEqual([3, 4, undefined]);
      expect([0, 2].map((at) => first.states?.[at])).toEqual([undefined, undefined]);
      expect([1, 3, 4].map((at) => first.states?.[at]?.used)).toEqual([0, 0, 0]);
      const second = await add(asked());
      expect([second.after[0], second.after[2]]).toEqual([7, 8]);
      const used = [1, 3, 4].map((at) =>
        usedHits(second.states?.[at], asked()[at]?.algorithm as Algorithm),
      );
      expect(used).toEqual([4, 6, 7]);
    });

    it.each(ALL)(
      'charges $name only what fits, whole, one ask after another',
      async (algorithm) => {
        const key = freshKey();
        const hits = [3, 3, 3, 3, 1, 0, -2, 4, 3, 0];
        const reply = await add(hits.map((each) => ask(algorithm, key, each)));
        const knownState = hitsOf(
          reply,
          hits.map(() => algorithm),
        );
        expect(knownState).toEqual([0, 3, 6, 9, 9, 10, 10, 8, 8, 8]);
      },
    );

    it.each(ALL)(
      'keeps no counter of $name that was only looked at or refused',
      async (algorithm) => {
        const key = freshKey();
        await add([ask(algorithm, key, 0), ask(algorithm, key, 11), ask(algorithm, key, 20n)]);
        expect(await store().read(keyFor(algorithm, key))).toBeUndefined();
      },
    );

    it('fails a counter alone whose value is of another kind', async () => {
      const [odd, good] = [freshKey(), freshKey()];
      await add([increment(keyFor(gcra, odd), 5)]);
      const reply = await add([ask(gcra, odd), ask(gcra, good)]);
      expect([...(reply.failures?.keys() ?? [])]).toEqual([0]);
      expect(reply.failures?.get(0)).toMatchObject({ fault: 'key' });
      expect(reply.states?.[1]?.used).toBe(0);
    });

    it('decides the counters of a request together', async () => {
      const [a, b, c] = [freshKey(), freshKey(), freshKey()];
      const request = (plain: number) => [ask(gcra, a, 3), increment(b, plain), ask(sliding, c, 3)];
      expect((await add(request(8), [3])).held).toBeUndefined();
      const over = await add([...request(3), ask(gcra, a)], [3, 4]);
      expect(over.held).toEqual([true, false, true, false]);
      expect(over.after[1]).toBe(11);
      expect(usedHits(over.states?.[0], gcra)).toBe(3);
      expect(over.states?.[2]?.used).toBe(3);
      const denied = await add([increment(b, 0, { limit: 20 }), ask(sliding, c, 8)], [2]);
      expect(denied.held).toEqual([true, false]);
      expect(denied.after[0]).toBe(11);
      const after = await add([ask(gcra, a, 0), ask(sliding, c, 0)]);
      expect(hitsOf(after, [gcra, sliding])).toEqual([4, 3]);
    });

    it.each(ALL)('counts any asks of $name as the arithmetic says', async (algorithm) => {
      const moves = fc.array(
        fc.record({
          hits: fc.integer({ min: -6, max: 12 }),
          times: fc.integer({ min: 1, max: 4 }),
        }),
        { minLength: 1, maxLength: 30 },
      );
      await fc.assert(
        fc.asyncProperty(moves, fc.integer({ min: 1, max: 7 }), async (given, size) => {
          const key = freshKey();
          const counter = new AlgorithmCounter();
          const asks = given.map(({ hits, times }) => ({ hits, times: hits > 0 ? times : 1 }));
          for (let start = 0; start < asks.length; start += size) {
            const part = asks.slice(start, start + size);
            const expected = part.map((one) =>
              usedHits(counter.apply(algorithm, 0, one), algorithm),
            );
            const reply = await add(
              part.map(({ hits, times }) => ask(algorithm, key, hits, times)),
            );
            expect(
              hitsOf(
                reply,
                part.map(() => algorithm),
              ),
            ).toEqual(expected);
          }
        }),
        { numRuns: 10 },
      );
    });

    it.each(ALL)(
      'admits no more than the promise of $name to many batches at once',
      async (algorithm) => {
        const key = freshKey();
        const replies = await Promise.all(
          Array.from({ length: 60 }, () => add([ask(algorithm, key, 1, 2), increment(freshKey())])),
        );
        const asks = { hits: 1, times: 2 };
        const admitted = replies.flatMap(({ states }) =>
          [1, 2].filter(
            (number) => !outcomeOf(algorithm, states?.[0] as CounterState, asks, number).isOver,
          ),
        );
        expect(admitted).toHaveLength(10);
      },
    );
  });
}
