import { toAlgorithm, type Algorithm } from '../../../src/core/algorithms/algorithm';
import { usedHits } from '../../../src/core/algorithms/counter-state';
import type { Steps } from '../../../src/core/steps';
import { createDryCounters } from '../../../src/counters/dry-counters';
import { findOver } from '../../../src/counters/find-over';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { increment } from '../../contract/counters.contract';
import { runSteps } from '../../support/run-steps';

const NOW = 1_795_240_200;

const ALGORITHMS = (['gcra', 'sliding_window'] as const).map((name) => {
  const definition = {
    name,
    limit: 10,
    burst: undefined,
    chargeDenied: false,
    periodSeconds: 3_600,
  };
  return toAlgorithm(definition) as Algorithm;
});

describe.each(ALGORITHMS)('a counter of $name in memory', (algorithm) => {
  const counters = createMemoryCounters({ clock: () => NOW });
  afterAll(() => counters.close());
  const look = increment('key_1h', 0, { algorithm });
  const read = () => counters.read(look.key, NOW, algorithm)?.value;

  it('is read, set and removed by operators', async () => {
    expect(read()).toBeUndefined();
    await counters.add({
      increments: [{ ...look, hits: 4 }],
      groupEnds: undefined,
      nowSeconds: NOW,
    });
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
    const reply = await dry.add({ increments, groupEnds: undefined, nowSeconds: NOW });
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
    const of = (key: string) => increment(key, 0, algorithm === undefined ? {} : { algorithm });
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
    const of = (at: number) => increment(`key ${String(at)}`, 0, { algorithm: paced as Algorithm });
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
