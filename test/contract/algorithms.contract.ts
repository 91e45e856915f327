import fc from 'fast-check';
import { toAlgorithm, type Algorithm } from '../../src/core/algorithms/algorithm';
import { countAdmitted } from '../../src/core/algorithms/apply-asks';
import { outcomeOf } from '../../src/core/algorithms/outcome';
import type { CounterReply, Counters, Increment } from '../../src/core/ports';
import { StoreError } from '../../src/core/errors';
import { freshKey, increment } from './counters.contract';

const HOUR = 3_600;

const algorithmOf = (
  name: Algorithm['name'],
  limit: number,
  more: { readonly burst?: number; readonly chargeDenied?: boolean } = {},
): Algorithm => {
  const { burst, chargeDenied = false } = more;
  return toAlgorithm({ name, limit, burst, chargeDenied, periodSeconds: HOUR }) as Algorithm;
};

/** Asks of one algorithm. The period is so long that nothing drains while a test runs. */
export function asksOf(
  key: string,
  algorithm: Algorithm,
  hits: number | bigint = 1,
  times = 1,
): Increment {
  return increment(key, hits, { algorithm, times, limit: algorithm.limit });
}

const ALGORITHMS: readonly (readonly [string, Algorithm])[] = [
  ['gcra', algorithmOf('gcra', 10)],
  ['sliding_window', algorithmOf('sliding_window', 10)],
  ['fixed_window that charges no refused hits', algorithmOf('fixed_window', 10)],
];

export interface AlgorithmsUnderTest {
  readonly counters: Counters;
  stop(): Promise<void>;
}

/** What a store keeps that counts by algorithms. */
export function describeAlgorithms(name: string, create: () => Promise<AlgorithmsUnderTest>): void {
  describe(`algorithms: ${name}`, () => {
    let store: AlgorithmsUnderTest;
    const add = (increments: readonly Increment[], groupEnds?: readonly number[]) =>
      store.counters.add({ increments, groupEnds, nowSeconds: Date.now() / 1_000 });

    beforeAll(async () => {
      store = await create();
    });
    afterAll(() => store.stop());

    /** Of each increment: how many of its asks were admitted; undefined without a standing. */
    const admittedIn = (increments: readonly Increment[], reply: CounterReply) =>
      increments.map(({ algorithm, hits, times = 1 }, index) => {
        const state = reply.states?.[index];
        if (state === undefined || algorithm === undefined) return undefined;
        return countAdmitted(algorithm, state, { hits: Number(hits), times });
      });
    const admitted = async (...increments: Increment[]) =>
      admittedIn(increments, await add(increments));

    describe.each(ALGORITHMS)('%s', (_, algorithm) => {
      const asks = (key: string, hits?: number | bigint, times?: number) =>
        asksOf(key, algorithm, hits, times);

      it('admits what fits, whole, in the order of the batch', async () => {
        const key = freshKey();
        expect(await admitted(asks(key, 4), asks(key, 7), asks(key, 6), asks(key))).toEqual([
          1, 0, 1, 0,
        ]);
      });

      it('admits as many of equal asks as fit', async () => {
        const key = freshKey();
        expect(await admitted(asks(key, 3, 5), asks(key, 1, 5))).toEqual([3, 1]);
      });

      it('refuses more hits than ever fit, and charges none', async () => {
        const key = freshKey();
        expect(await admitted(asks(key, 11), asks(key, 2n ** 63n - 1n), asks(key, 10))).toEqual([
          0, 0, 1,
        ]);
      });

      it('changes nothing by a look', async () => {
        const key = freshKey();
        const reply = await add([asks(key, 3), asks(key, 0), asks(key, 0)]);
        expect(reply.states?.[1]?.used).toBe(reply.states?.[2]?.used);
        expect(await admitted(asks(key, 8), asks(key, 7))).toEqual([0, 1]);
      });

      it('takes hits back, never below nothing', async () => {
        const key = freshKey();
        expect(await admitted(asks(key, 10), asks(key, -4), asks(key, 4))).toEqual([1, 0, 1]);
        expect(await admitted(asks(key, -50), asks(key, 11), asks(key, 10))).toEqual([0, 0, 1]);
      });

      it('keeps counters apart from those of fixed windows in one batch', async () => {
        const [own, plain] = [freshKey(), freshKey()];
        const reply = await add([
          increment(plain, 3),
          asks(own, 4),
          increment(plain, 2),
          asks(own, 7),
        ]);
        expect([reply.after[0], reply.after[2]]).toEqual([3, 5]);
        expect([0, 2].map((at) => reply.states?.[at])).toEqual([undefined, undefined]);
        expect(reply.states?.[1]?.used).toBe(0);
        expect(reply.states?.[3]?.used).toBeGreaterThan(0);
      });

      it('admits the same however equal asks are split over batches', async () => {
        await fc.assert(
          fc.asyncProperty(
            fc.integer({ min: 1, max: 4 }),
            fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 }),
            async (hits, parts) => {
              const [whole, split] = [freshKey(), freshKey()];
              const total = parts.reduce((sum, part) => sum + part, 0);
              const [together] = await admitted(asks(whole, hits, total));
              let apart = 0;
              for (const part of parts) apart += (await admitted(asks(split, hits, part)))[0] ?? 0;
              expect(apart).toBe(together);
            },
          ),
          { numRuns: 20 },
        );
      });

      it('holds back the rest of a run in which one ask is refused', async () => {
        const [full, free, plain] = [freshKey(), freshKey(), freshKey()];
        await add([asks(full, 10)]);
        const run = [asks(free, 2), asks(full), increment(plain)];
        const reply = await add(run, [3]);
        expect(reply.held).toEqual([true, false, true]);
        expect(reply.after[2]).toBe(0);
        expect(reply.states?.[0]?.used).toBe(0);
        expect(await admitted(asks(free, 10))).toEqual([1]);
      });

      it('holds it back where a fixed window of the run goes over', async () => {
        const [free, plain] = [freshKey(), freshKey()];
        const reply = await add([asks(free, 2), increment(plain, 11)], [2]);
        expect(reply.held).toEqual([true, false]);
        expect(await admitted(asks(free, 10))).toEqual([1]);
      });

      it('adds to all of a run that fits', async () => {
        const [one, two] = [freshKey(), freshKey()];
        const reply = await add([asks(one, 2), asks(two, 10), asks(one, 8)], [2, 3]);
        expect(reply.held).toBeUndefined();
        expect(await admitted(asks(one), asks(two))).toEqual([0, 0]);
      });
    });

    it.each(['gcra', 'sliding_window'] as const)(
      '%s goes into debt with charge_denied',
      async (name) => {
        const algorithm = algorithmOf(name, 10, { chargeDenied: true });
        const key = freshKey();
        await add([asksOf(key, algorithm, 8), asksOf(key, algorithm, 8)]);
        const { states } = await add([asksOf(key, algorithm, 0)]);
        const state = states?.[0];
        if (state === undefined) throw new Error('no state');
        expect(outcomeOf(algorithm, state, { hits: 0, times: 1 }, 1).isOver).toBe(true);
        expect(await admitted(asksOf(key, algorithm, -6), asksOf(key, algorithm, 1))).toEqual([
          0, 0,
        ]);
        expect(await admitted(asksOf(key, algorithm, -1), asksOf(key, algorithm, -1))).toEqual([
          0, 0,
        ]);
      },
    );

    it('admits a burst at once, and no more', async () => {
      const algorithm = algorithmOf('gcra', 100, { burst: 3 });
      const key = freshKey();
      expect(await admitted(asksOf(key, algorithm, 1, 10))).toEqual([3]);
    });

    it('sees a count beyond every limit, and refuses', async () => {
      const algorithm = algorithmOf('fixed_window', 10);
      const [large, small] = [freshKey(), freshKey()];
      await add([increment(large, 2n ** 63n - 2n)]);
      const reply = await add([asksOf(large, algorithm, 1), asksOf(small, algorithm, 1)]);
      expect(reply.failures).toBeUndefined();
      expect(admittedIn([asksOf(large, algorithm), asksOf(small, algorithm)], reply)).toEqual([
        0, 1,
      ]);
    });

    it('rejects after it was closed', async () => {
      const other = await create();
      await other.stop();
      const failing = other.counters.add({
        increments: [asksOf(freshKey(), ALGORITHMS[0]?.[1] as Algorithm)],
        groupEnds: undefined,
        nowSeconds: Date.now() / 1_000,
      });
      await expect(failing).rejects.toBeInstanceOf(StoreError);
    });
  });
}
