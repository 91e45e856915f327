import type { Steps } from '../../../src/core/steps';
import { dumpJson, dumpText } from '../../../src/stats/dump';
import { createRegistry } from '../../../src/stats/registry';
import { runSteps } from '../../support/run-steps';

function someRegistry() {
  const registry = createRegistry();
  registry.count('z.hits', 3);
  registry.count('a.hits', 0);
  registry.gauge('m.open', () => 1.5);
  registry.time('took', 1, 98);
  registry.time('took', 50, 2);
  return registry;
}

async function whole(pieces: Steps<void, string>): Promise<string> {
  let text = '';
  await runSteps(pieces, (piece) => (text += piece));
  return text;
}

async function readJson(registry: ReturnType<typeof createRegistry>) {
  return JSON.parse(await whole(dumpJson(registry))) as {
    readonly counters: Readonly<Record<string, number>>;
    readonly timers: Readonly<Record<string, Readonly<Record<string, number>>>>;
  };
}

describe('the dump as text', () => {
  it('shows every statistic on a line of its own, in the order of the names', async () => {
    expect((await whole(dumpText(someRegistry()))).split('\n')).toEqual([
      'a.hits: 0',
      'm.open: 1.5',
      'ratelimit.statistics.overflow: 0',
      'took.count: 100',
      'took.max: 50',
      expect.stringMatching(/^took.p50: (0\.99|1\.00)/),
      expect.stringMatching(/^took.p90: (0\.99|1\.00)/),
      expect.stringMatching(/^took.p99: (49|50)/),
      'z.hits: 3',
      '',
    ]);
  });

  it('shows that nothing was counted', async () => {
    expect(await whole(dumpText(createRegistry()))).toBe('ratelimit.statistics.overflow: 0\n');
  });
});

describe('the dump as JSON', () => {
  it('says the same', async () => {
    const dump = await readJson(someRegistry());
    expect(dump).toMatchObject({
      counters: { 'a.hits': 0, 'ratelimit.statistics.overflow': 0, 'z.hits': 3 },
      gauges: { 'm.open': 1.5 },
      timers: { took: { count: 100, max: 50 } },
    });
    expect(Object.keys(dump.counters)).toEqual([
      'a.hits',
      'ratelimit.statistics.overflow',
      'z.hits',
    ]);
  });

  it('holds any name, and any number of them', async () => {
    const registry = createRegistry();
    for (let i = 0; i < 2_500; i++) registry.count(`"${String(i)}`, i);
    const { counters } = await readJson(registry);
    expect(Object.keys(counters)).toHaveLength(2_501);
    expect(counters['"2499']).toBe(2_499);
  });

  it('never shows a quantile above the maximum', async () => {
    const registry = createRegistry();
    registry.time('took', 1, 1);
    const { took } = (await readJson(registry)).timers;
    expect(took?.['p99']).toBeLessThanOrEqual(1);
  });
});
