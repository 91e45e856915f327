import fc from 'fast-check';
import { StoreError } from '../../src/core/errors';
import type { Increment } from '../../src/core/ports';
import {
  batch,
  freshKey,
  increment,
  TTL_SECONDS,
  type CountersUnderTest,
} from '../support/increments';
import { describeAlgorithms } from './counters.algorithms';
import { createModel } from './counters.model';

export { batch, freshKey, increment, type CountersUnderTest };

export interface ContractOptions {
  /** False: the store takes no key over 250 bytes, none with whitespace or control characters, none that is empty. */
  readonly takesOddKeys?: boolean;
  /** The store counts by algorithms other than the fixed window. */
  readonly knowsAlgorithms?: boolean;
}

/** What every counter store keeps. */
export function describeCounters(
  name: string,
  create: () => Promise<CountersUnderTest>,
  { takesOddKeys = true, knowsAlgorithms = false }: ContractOptions = {},
): void {
  describe(`counters: ${name}`, () => {
    let store: CountersUnderTest;
    const add = (increments: readonly Increment[], groupEnds?: readonly number[]) =>
      store.counters.add(batch(increments, groupEnds));

    beforeAll(async () => {
      store = await create();
    });
    afterAll(async () => {
      await store.stop();
    });

    if (knowsAlgorithms) describeAlgorithms(() => store);

    it('answers an empty batch', async () => {
      expect((await add([])).after).toEqual([]);
    });

    it('keeps batches in order', async () => {
      const key = freshKey();
      const replies = await Promise.all([1, 2, 3, 4].map(() => add([increment(key)])));
      expect(replies.map(({ after }) => after[0])).toEqual([1, 2, 3, 4]);
    });

    it.each([0n, 9n, 2n ** 48n + 3n, 2n ** 52n + 3n, 2n ** 53n + 1n, 2n ** 62n, 2n ** 63n - 1n])(
      'never goes below zero from %d, however many hits are given back',
      async (knownState) => {
        const refunds = [
          1n,
          2n ** 48n,
          2n ** 52n,
          2n ** 53n + 1n,
          2n ** 62n - 1n,
          2n ** 62n + 1n,
          2n ** 63n - 1n,
        ];
        for (const refund of refunds) {
          const key = freshKey();
          await add([increment(key, knownState)]);
          const { after } = await add([increment(key, -refund)]);
          const left = knownState > refund ? knownState - refund : 0n;
          expect([refund, (await store.read(key))?.value]).toEqual([refund, String(left)]);
          expect(Math.abs((after[0] ?? NaN) - Number(left))).toBeLessThanOrEqual(1_024);
          await add([increment(key, -(2n ** 63n) + 1n), increment(key, -(2n ** 63n) + 1n)]);
          expect((await add([increment(key, 4), increment(key, -1)])).after).toEqual([4, 3]);
          const entry = await store.read(key);
          expect(entry?.value).toBe('3');
          expect(entry?.ttlSeconds).toBeGreaterThan(TTL_SECONDS - 60);
        }
      },
    );

    it.each([
      ['by a hit', 1],
      ['by a look', 0],
      ['by hits given back', -1],
    ])('sets the time to live of a counter once, when it is created %s', async (_, first) => {
      const key = freshKey();
      await add([increment(key, first, { ttlSeconds: 1_000 })]);
      for (const hits of [1, 0, -5, 0, 2]) {
        await add([increment(key, hits, { ttlSeconds: 9_000 })]);
      }
      const { ttlSeconds = 0 } = (await store.read(key)) ?? {};
      expect(ttlSeconds).toBeGreaterThan(900);
      expect(ttlSeconds).toBeLessThanOrEqual(1_001);
    });

    it('keeps every digit of large counts', async () => {
      const key = freshKey();
      await add([increment(key, 4_294_967_296)]);
      const { after } = await add([increment(key, 9_007_199_254_740_993n)]);
      expect(after[0]).toBeCloseTo(9_007_203_549_708_289, -1);
      expect((await store.read(key))?.value).toBe('9007203549708289');
    });

    it('fails an increment that would overflow, alone, and leaves its counter as it was', async () => {
      const [large, small] = [freshKey(), freshKey()];
      await add([increment(large, 2n ** 62n)]);
      const reply = await add([increment(large, 2n ** 62n), increment(small, 4)]);
      expect(reply.after[1]).toBe(4);
      expect([...(reply.failures ?? [])]).toEqual([[0, expect.any(StoreError)]]);
      expect(reply.failures?.get(0)?.code).toBe('store_unavailable');
      expect((await store.read(large))?.value).toBe(String(2n ** 62n));
    });

    it('rejects when no increment of a batch could be applied', async () => {
      const key = freshKey();
      await add([increment(key, 2n ** 62n)]);
      const failing = add([increment(key, 2n ** 62n), increment(key, 2n ** 62n)]);
      await expect(failing).rejects.toMatchObject({ code: 'store_unavailable' });
    });

    const oddKeys: readonly (readonly [name: string, key: string])[] = [
      ['blanks', 'a key  with blanks '],
      ['line breaks', 'one\r\ntwo\n$3\r\n'],
      ['NUL', 'nul\0nul'],
      ['64 KiB', 'k'.repeat(65_536)],
      ['nothing at all', ''],
    ];

    const failsAlone = async (odd: string): Promise<void> => {
      const plain = freshKey();
      const key = odd === '' ? '' : odd + freshKey();
      const { after, failures } = await add([increment(key), increment(plain)]);
      expect(after[1]).toBe(1);
      expect(failures?.get(0)).toMatchObject({ code: 'store_unavailable', fault: 'key' });
      expect(failures?.get(0)?.message).toMatch(/^memcached .*accept/);
    };
    if (!takesOddKeys)
      it.each(oddKeys)('fails an increment whose key has %s, alone, and says why', (_, odd) =>
        failsAlone(odd),
      );

    const plainKeys: typeof oddKeys = [
      ['an emoji', 'grüße_🦊_家'],
      ['names of object properties', '__proto__'],
    ];
    it.each(takesOddKeys ? [...plainKeys, ...oddKeys] : plainKeys)(
      'takes keys with %s',
      async (_, odd) => {
        const key = odd === '' ? '' : odd + freshKey();
        expect((await add([increment(key, 2), increment(key, 1)])).after).toEqual([2, 3]);
        expect((await store.read(key))?.value).toBe('3');
      },
    );

    it('tells keys apart that differ in their case or last byte only', async () => {
      const key = freshKey();
      const { after } = await add([
        increment(`${key}a`, 1),
        increment(`${key}A`, 2),
        increment(`${key}a${takesOddKeys ? '\0' : '\u0080'}`, 3),
      ]);
      expect(after).toEqual([1, 2, 3]);
    });

    it('takes 10,000 increments in a batch', async () => {
      const [key, shared] = [freshKey(), freshKey()];
      const keys = Array.from({ length: 10_000 }, (_, at) =>
        at % 2 === 0 ? shared : `${key}_${String(at)}`,
      );
      const { after, failures } = await add(keys.map((each) => increment(each)));
      expect(failures).toBeUndefined();
      expect(after).toHaveLength(10_000);
      expect(after.every((count, at) => count === (at % 2 === 0 ? at / 2 + 1 : 1))).toBe(true);
    });

    describe('holding back', () => {
      it('adds only to what goes over, and answers the others as they stand', async () => {
        const [full, free, unused] = [freshKey(), freshKey(), freshKey()];
        await add([increment(full, 10), increment(free, 4)]);
        const reply = await add([increment(free), increment(full), increment(unused)], [3]);
        expect(reply.after).toEqual([4, 11, 0]);
        expect(reply.held).toEqual([true, false, true]);
        expect((await store.read(free))?.value).toBe('4');
        expect(await store.read(unused)).toBeUndefined();
      });

      it('sets the time to live of what it creates', async () => {
        const key = freshKey();
        await add([increment(key)], [1]);
        expect((await store.read(key))?.ttlSeconds).toBeGreaterThan(TTL_SECONDS - 60);
      });

      it('keeps a run of thousands together', async () => {
        const [key, full] = [freshKey(), freshKey()];
        const many = Array.from({ length: 5_000 }, (_, at) => increment(`${key}_${String(at)}`));
        await add([increment(full, 10)]);
        const reply = await add([increment(key), ...many, increment(full)], [1, 5_002]);
        expect(reply.after[0]).toBe(1);
        expect(reply.after[5_001]).toBe(11);
        expect(reply.held?.filter(Boolean)).toHaveLength(5_000);
      });
    });

    it('counts like the model whatever comes', async () => {
      const hits = fc.oneof(fc.integer({ min: -6, max: 9 }), fc.constant(1), fc.constant(0));
      const change = fc.record({
        key: fc.integer({ min: 0, max: 3 }),
        hits,
        limit: fc.integer({ min: 0, max: 12 }),
      });
      const run = fc.array(change, { maxLength: 4 });
      const anyBatch = fc.record({ runs: fc.array(run, { maxLength: 4 }), holds: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(fc.array(anyBatch, { maxLength: 6 }), async (batches) => {
          const prefix = freshKey('model');
          const model = createModel();
          for (const { runs, holds } of batches) {
            const increments = runs
              .flat()
              .map(({ key, limit, ...each }) =>
                increment(`${prefix}_${String(key)}`, each.hits, { limit }),
              );
            let end = 0;
            const ends = runs.map(({ length }) => (end += length));
            const asked = batch(increments, holds ? ends : undefined);
            expect(await store.counters.add(asked)).toEqual(model(asked));
          }
        }),
        { numRuns: 60 },
      );
    });
  });

  describe(`closing counters: ${name}`, () => {
    it('settles what is open, refuses what comes, and may be called twice', async () => {
      const store = await create();
      const key = freshKey();
      const open = store.counters.add(batch([increment(key, 7)]));
      const closing = store.counters.close();
      await expect(open).resolves.toMatchObject({ after: [7] });
      await expect(store.counters.add(batch([increment(key)]))).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('the service is stopping') as string,
      });
      await closing;
      await store.counters.close();
      await store.stop();
    });
  });
}
