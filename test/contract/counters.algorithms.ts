import { counterStates, type StateLimiter } from '../support/limiters';
import fc from 'fast-check';
import { countAdmitted, outcomeOf } from '../../src/core/kinds/whole';
import { type CounterState } from '../../src/core/kinds/kind';
import type { CounterReply, Increment } from '../../src/core/ports';
import { AlgorithmCounter } from '../support/algorithm-counter';
import { ask, slowRule, usedHits } from '../support/algorithm-increments';
import { batch, freshKey, increment, type CountersUnderTest } from '../support/increments';

const gcra = slowRule('gcra');
const sliding = slowRule('sliding_window');
const guarded = slowRule('fixed_window');
const ALL = [gcra, sliding, guarded] as const;

function hitsOf(reply: CounterReply, algorithms: readonly StateLimiter[]): readonly number[] {
  return algorithms.map((algorithm, at) => usedHits(counterStates(reply.states)?.[at], algorithm));
}

/** What a store keeps that knows algorithms. */
export function describeAlgorithms(store: () => CountersUnderTest): void {
  const add = (increments: readonly Increment[], groupEnds?: readonly number[]) =>
    store().counters.add(batch(increments, groupEnds));

  /** Of each increment: how many of its asks were admitted. */
  const admitted = async (...increments: readonly Increment[]) => {
    const { states, failures } = await add(increments);
    expect(failures).toBeUndefined();
    return increments.map(({ limiter, hits, times }, at) => {
      const asks = { hits: Number(hits), times };
      return countAdmitted(limiter, states?.[at] as CounterState, asks);
    });
  };

  describe('algorithms', () => {
    it('decides the counters of a request together', async () => {
      const [a, b, c] = [freshKey(), freshKey(), freshKey()];
      const request = (plain: number) => [ask(gcra, a, 3), increment(b, plain), ask(sliding, c, 3)];
      expect((await add(request(8), [3])).held).toBeUndefined();
      const over = await add([...request(3), ask(gcra, a)], [3, 4]);
      expect(over.held).toEqual([true, false, true, false]);
      expect(over.after[1]).toBe(11);
      expect(usedHits(counterStates(over.states)?.[0], gcra)).toBe(3);
      expect(counterStates(over.states)?.[2]?.used).toBe(3);
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

    it.each(ALL)(
      'holds back the rest of a run in which an ask of $name is refused',
      async (algorithm) => {
        const [full, free, plain] = [freshKey(), freshKey(), freshKey()];
        await add([ask(algorithm, full, 10)]);
        const run = [ask(algorithm, free, 2), ask(algorithm, full), increment(plain)];
        const reply = await add(run, [3]);
        expect(reply.held).toEqual([true, false, true]);
        expect(reply.after[2]).toBe(0);
        expect(counterStates(reply.states)?.[0]?.used).toBe(0);
        expect(await admitted(ask(algorithm, free, 10))).toEqual([1]);
      },
    );
  });
}
