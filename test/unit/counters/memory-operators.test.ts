import { limiterOf, type StateLimiter } from '../../support/limiters';
import { usedHits } from '../../../src/core/kinds/limiter';
import type { Limiter } from '../../../src/core/kinds/kind';
import type { Increment } from '../../../src/core/ports';
import type { Steps } from '../../../src/core/steps';
import { createDryCounters } from '../../../src/counters/dry-counters';
import { findOver } from '../../../src/counters/over-entries';
import { CounterTable } from '../../../src/counters/memory/counter-table';
import { createKeyReader } from '../../../src/counters/memory/key-reader';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { budgetEntry, budgetLimiterOf } from '../../support/budget-arbitraries';
import { batch, increment, START_SECONDS } from '../../support/increments';
import { runSteps } from '../../support/run-steps';

const NOW = START_SECONDS;

const ALGORITHMS = (['gcra', 'sliding_window'] as const).map((name) => {
  const definition = {
    name,
    limit: 10,
    burst: undefined,
    chargeDenied: false,
    periodSeconds: 3_600,
  };
  return limiterOf(definition);
});

describe.each(ALGORITHMS)('a counter of $kind.words.name in memory', (algorithm) => {
  const counters = createMemoryCounters({ clock: () => NOW });
  afterAll(() => counters.close());
  const look = increment('key_1h', 0, { limiter: algorithm });
  const read = () => counters.read(look.key, NOW, algorithm)?.value;

  it('is read, set and removed by operators', async () => {
    expect(read()).toBeUndefined();
    await counters.add(batch([{ ...look, hits: 4 }]));
    expect(read()).toBe(4);
    expect(await counters.set([look], 7, NOW)).toEqual([undefined]);
    expect(read()).toBe(7);
    expect(await counters.remove([look])).toEqual([undefined]);
    expect([read(), counters.liveKeys]).toEqual([undefined, 0]);
  });

  it('is listed while it refuses a hit', async () => {
    await counters.set([look], 9, NOW);
    expect(await runSteps(counters.listOver(NOW, 10))).toEqual([]);
    await counters.set([look], 10, NOW);
    const [listed] = await runSteps(counters.listOver(NOW, 10));
    expect(listed).toMatchObject({ key: look.key, limit: 10, count: 10 });
    const later = counters.listOver(listed?.windowEndSeconds ?? NOW, 10);
    expect(await runSteps(later)).toEqual([]);
    expect(await runSteps(counters.listOver(NOW, 0))).toEqual([]);
    await counters.remove([look]);
  });

  it('answers dry asks from its hits in use', async () => {
    const readings = new Map([[look.key, { count: 7, expiresInSeconds: 9, store: 'memory' }]]);
    const increments = [
      { ...look, hits: 2 },
      { ...look, hits: 0 },
    ];
    const dry = createDryCounters(readings);
    const reply = await dry.add(batch(increments));
    expect(reply.states?.map((one) => one && usedHits(algorithm, one))).toEqual([7, 9]);
  });
});

describe('the list of counters over their limit', () => {
  const COUNT = 5_000;
  const [paced] = ALGORITHMS;

  it.each([
    ['fixed windows', undefined],
    ['gcra', paced],
  ])('is made in steps of some hundred counters (%s)', async (_, algorithm) => {
    const counters = createMemoryCounters({ clock: () => NOW });
    const of = (key: string) =>
      increment(key, 0, algorithm === undefined ? {} : { limiter: algorithm });
    const under = Array.from({ length: COUNT }, (__, at) => of(`under ${String(at)}`));
    await counters.set(under, 1, NOW);
    await counters.set([of('over')], 11, NOW);
    let steps = 0;
    const counted = function* (): Steps<readonly { readonly key: string }[]> {
      const list = counters.listOver(NOW, 10);
      for (;;) {
        const step = list.next();
        if (step.done === true) return step.value;
        steps += 1;
        yield step.value;
      }
    };
    expect((await runSteps(counted())).map(({ key }) => key)).toEqual(['over']);
    expect(steps).toBeGreaterThan(COUNT / 2_000);
    await counters.close();
  });

  it('goes on when counters come and go between its steps', async () => {
    const counters = createMemoryCounters({ clock: () => NOW });
    const of = (at: number) =>
      increment(`key ${String(at)}`, 0, { limiter: paced as StateLimiter });
    const all = Array.from({ length: COUNT }, (_, at) => of(at));
    await counters.set(all, 10, NOW);
    const list = counters.listOver(NOW, COUNT);
    list.next();
    await counters.remove(all.slice(0, COUNT / 2));
    await counters.set([of(COUNT)], 10, NOW);
    const keys = new Set((await runSteps(list)).map(({ key }) => key));
    for (const { key } of all.slice(COUNT / 2)) expect(keys.has(key)).toBe(true);
    await counters.close();
  });

  it('passes a million counters at most', async () => {
    let passed = 0;
    function* endless(): Generator<number> {
      for (;;) yield (passed += 1);
    }
    expect(await runSteps(findOver(endless(), 10, () => undefined))).toEqual([]);
    expect(passed).toBe(1_000_001);
  });
});

describe('counters with budgets', () => {
  const withParts = (limits: number, blocks: number) => {
    const periods = Array.from({ length: limits }, (_, at) => 3_600 + at);
    return budgetLimiterOf({
      entries: periods.map((periodSeconds) =>
        budgetEntry({ sort: 'gcra', limit: 9, periodSeconds }),
      ),
      reserve: { leaseMs: 60_000, isReleased: false },
      blocks: Array.from({ length: blocks }, (_, at) => {
        return { after: 1, withinMs: 1, forMs: 1, upToMs: 1, entry: at };
      }),
    });
  };
  const keyOf = (at: number) => `{c:d_k_${String(at).padStart(4, '0')}~1}~c`;
  const ask = (at: number, limiter: Limiter, id?: string) =>
    increment(keyOf(at), 1, {
      limiter,
      ...(id !== undefined && { reservation: { mode: 'reserve', id, saysHits: true } }),
    });
  const BYTES = 100_000;
  /** Of budgets so large, as records and with their keys. */
  const mostOf = (bytes: number): number => {
    const table = new CounterTable(2, createKeyReader());
    const next = () => keyOf(table.size);
    while ((table.size + 1) * bytes + table.bytes + table.bytesOf(next()) <= BYTES)
      table.add(next());
    return table.size;
  };

  it('keep what they answered as it was, whatever is asked of them later', async () => {
    const counters = createMemoryCounters({ clock: () => NOW });
    const sorts = ['window', 'gcra', 'sliding', 'slots'] as const;
    const limiter = budgetLimiterOf({
      entries: sorts.map((sort) => budgetEntry({ sort, limit: 9, periodSeconds: 3_600 })),
      reserve: { leaseMs: 60_000, isReleased: false },
      blocks: [{ after: 1, withinMs: 9_000, forMs: 9_000, upToMs: 9_000, entry: -1 }],
    });
    const answered: (readonly [unknown, string])[] = [];
    const note = (state: unknown) => {
      answered.push([state, JSON.stringify(state)]);
    };
    for (let step = 0; step < 12; step += 1) {
      const increments = [ask(0, limiter), ask(0, limiter, `id ${String(step)}`), ask(0, limiter)];
      const { states } = await counters.add({
        increments,
        groupEnds: undefined,
        nowSeconds: NOW + step,
      });
      for (const state of states ?? []) note(state);
      note(counters.read(keyOf(0), NOW + step, limiter)?.state);
    }
    expect(answered.map(([state]) => JSON.stringify(state))).toEqual(
      answered.map(([, text]) => text),
    );
    expect(new Set(answered.map(([, text]) => text)).size).toBeGreaterThan(20);
    await counters.close();
  });

  it('are listed while they refuse one hit, or one reservation, by the limit that does', async () => {
    const counters = createMemoryCounters({ clock: () => NOW });
    const terms = { reserve: undefined, isForced: false, isShadow: false };
    const entryOf = (sort: 'gcra' | 'slots', limit: number, periodSeconds: number) =>
      budgetEntry({ sort, limit, periodSeconds });
    const list = { ...terms, entries: [entryOf('gcra', 9, 10), entryOf('gcra', 5, 3_600)] };
    const block = { after: 2, withinMs: 9_000, forMs: 900_000, upToMs: 900_000, entry: -1 };
    const limiters = [
      budgetLimiterOf({ ...list }),
      budgetLimiterOf({ ...list, blocks: [block] }),
      budgetLimiterOf({
        ...terms,
        entries: [entryOf('slots', 2, 1), entryOf('gcra', 100, 60)],
        reserve: { leaseMs: 60_000, isReleased: false },
      }),
    ] as const;
    const add = (...increments: readonly Increment[]) => counters.add(batch(increments));
    const listed = async () =>
      (await runSteps(counters.listOver(NOW, 10))).map(
        ({ key, limit, windowEndSeconds }) =>
          [Number(/_k_(\d+)/.exec(key)?.[1]), limit, windowEndSeconds - NOW] as const,
      );
    const [plain, blocking, slots] = limiters;
    await add({ ...ask(0, plain), hits: 4 }, { ...ask(1, blocking), hits: 5 }, ask(2, slots, 'a'));
    expect(await listed()).toEqual([[1, 5, 720]]);
    await add(ask(0, plain), ask(2, slots, 'b'));
    // One more refusal would begin a block; none lasts.
    await add(ask(1, blocking));
    expect((await listed()).toSorted()).toEqual([
      [0, 5, 720],
      [1, 5, 720],
      [2, 2, 1],
    ]);
    await add(ask(1, blocking));
    expect(await listed()).toContainEqual([1, 5, 900]);
    await counters.close();
  });

  it.each([
    [1, 0, 600 + 100],
    [8, 0, 600 + 800],
    [2, 2, 600 + 200 + 320],
  ])('of %d limits and %d blocks take the room of all of them', async (limits, blocks, bytes) => {
    const counters = createMemoryCounters({ clock: () => NOW }, { maxBytes: BYTES });
    const increments = Array.from({ length: 300 }, (_, at) => ask(at, withParts(limits, blocks)));
    await counters.add(batch(increments));
    expect(counters.liveKeys).toBe(mostOf(bytes));
    await counters.close();
  });

  it('give their room back when they go, and after a reload take that of their limits of now', async () => {
    const counters = createMemoryCounters(
      { clock: () => NOW },
      { maxBytes: 600 + 800 + 180 + 232 },
    );
    const [small, large] = [withParts(1, 0), withParts(8, 0)];
    const fails = (one: Increment): Promise<boolean> =>
      counters.add(batch([one])).then(
        () => false,
        () => true,
      );
    for (let round = 0; round < 3; round += 1) {
      expect(await fails(ask(0, small, 'one-id-of-16-cha'))).toBe(false);
      // It holds a reservation, so that it is not evicted.
      expect(await fails(ask(1, large))).toBe(true);
      expect(await fails(ask(0, large))).toBe(false);
      await counters.remove([ask(0, large)], { withOpen: true });
      expect(counters.liveKeys).toBe(0);
    }
    expect(await fails(ask(1, large))).toBe(false);
    await counters.close();
  });
});
