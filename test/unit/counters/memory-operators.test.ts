import { toAlgorithm, type Algorithm } from '../../../src/core/algorithms/algorithm';
import { usedHits } from '../../../src/core/algorithms/standing';
import { createDryCounters } from '../../../src/counters/dry-counters';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { increment } from '../../contract/counters.contract';

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
    expect(counters.listOver(NOW, 10)).toEqual([]);
    await counters.set([look], 10, NOW);
    const [listed] = counters.listOver(NOW, 10);
    expect(listed).toMatchObject({ key: look.key, limit: 10, count: 10 });
    expect(counters.listOver(listed?.windowEndSeconds ?? NOW, 10)).toEqual([]);
    expect(counters.listOver(NOW, 0)).toEqual([]);
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
    expect(reply.standings?.map((one) => one && usedHits(algorithm, one))).toEqual([7, 9]);
  });
});
