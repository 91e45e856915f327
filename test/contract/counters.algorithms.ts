import { counterStates, type StateLimiter } from '../support/limiters';
import fc from 'fast-check';
import { countAdmitted, outcomeOf } from '../../src/core/kinds/whole';
import { type CounterState } from '../../src/core/kinds/kind';
import type { CounterReply, Increment } from '../../src/core/ports';
import { AlgorithmCounter } from '../support/algorithm-counter';
import { ask, keyFor, slowRule, usedHits } from '../support/algorithm-increments';
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
      expect([1, 3, 4].map((at) => counterStates(first.states)?.[at]?.used)).toEqual([0, 0, 0]);
      const second = await add(asked());
      expect([second.after[0], second.after[2]]).toEqual([7, 8]);
      const used = [1, 3, 4].map((at) =>
        usedHits(counterStates(second.states)?.[at], asked()[at]?.limiter as StateLimiter),
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

    it.each(ALL)('admits as many equal asks of $name as fit', async (algorithm) => {
      const key = freshKey();
      expect(await admitted(ask(algorithm, key, 3, 5), ask(algorithm, key, 1, 5))).toEqual([3, 1]);
    });

    it.each(ALL)(
      'refuses more hits of $name than ever fit, and charges none',
      async (algorithm) => {
        const key = freshKey();
        const asked = [11, 2n ** 63n - 1n, 10].map((hits) => ask(algorithm, key, hits));
        expect(await admitted(...asked)).toEqual([0, 0, 1]);
      },
    );

    it.each(ALL)('takes hits of $name back, never below nothing', async (algorithm) => {
      const key = freshKey();
      const asks = (...hits: number[]) => hits.map((each) => ask(algorithm, key, each));
      expect(await admitted(...asks(10, -4, 4))).toEqual([1, 0, 1]);
      expect(await admitted(...asks(-50, 11, 10))).toEqual([0, 0, 1]);
    });

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

    it.each(ALL)(
      'holds back $name where a fixed window of the run goes over',
      async (algorithm) => {
        const [free, plain] = [freshKey(), freshKey()];
        const reply = await add([ask(algorithm, free, 2), increment(plain, 11)], [2]);
        expect(reply.held).toEqual([true, false]);
        expect(await admitted(ask(algorithm, free, 10))).toEqual([1]);
      },
    );

    it.each(ALL)('adds to all of a run of $name that fits', async (algorithm) => {
      const [one, two] = [freshKey(), freshKey()];
      const asked = [ask(algorithm, one, 2), ask(algorithm, two, 10), ask(algorithm, one, 8)];
      const reply = await add(asked, [2, 3]);
      expect(reply.held).toBeUndefined();
      expect(await admitted(ask(algorithm, one), ask(algorithm, two))).toEqual([0, 0]);
    });

    it.each(['gcra', 'sliding_window'] as const)(
      'lets %s go into debt with charge_denied',
      async (name) => {
        const algorithm = slowRule(name, 10, true);
        const key = freshKey();
        const asks = (...hits: number[]) => hits.map((each) => ask(algorithm, key, each));
        await add(asks(8, 8));
        const { states } = await add(asks(0));
        const look = outcomeOf(algorithm, states?.[0] as CounterState, { hits: 0, times: 1 }, 1);
        expect(look.isOver).toBe(true);
        expect(await admitted(...asks(-6, 1))).toEqual([0, 0]);
        expect(await admitted(...asks(-1, -1))).toEqual([0, 0]);
      },
    );

    it('admits a burst at once, and no more', async () => {
      const burst = { ...slowRule('gcra', 100), size: 3 };
      expect(await admitted(ask(burst, freshKey(), 1, 10))).toEqual([3]);
    });

    it('sees a count beyond every limit, and refuses', async () => {
      const [large, small] = [freshKey(), freshKey()];
      await add([increment(large, 2n ** 63n - 2n)]);
      expect(await admitted(ask(guarded, large), ask(guarded, small))).toEqual([0, 1]);
    });
  });
}
