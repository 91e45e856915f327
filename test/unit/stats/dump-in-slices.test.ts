import fc from 'fast-check';
import { dumpTextInSlices } from '../../../src/stats/dump';
import { createRegistry } from '../../../src/stats/registry';

async function inSlices(registry: ReturnType<typeof createRegistry>): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of dumpTextInSlices(registry)) pieces.push(piece);
  return pieces;
}

/** The lines of counters of these names and values, sorted. */
function textOf(counts: ReadonlyMap<string, number>): string {
  const lines = [...counts].map(([name, count]) => `${name}: ${String(count)}`);
  return `${[...lines, 'ratelimit.statistics.overflow: 0'].sort().join('\n')}\n`;
}

describe('dumpTextInSlices', () => {
  it('writes every statistic on a line, sorted by the lines', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ maxLength: 3 })), async (names) => {
        const registry = createRegistry();
        const counts = new Map<string, number>();
        for (const name of names) {
          registry.count(name, 1);
          counts.set(name, (counts.get(name) ?? 0) + 1);
        }
        expect((await inSlices(registry)).join('')).toBe(textOf(counts));
      }),
    );
  });

  it('gives other work its turn all the time, with many statistics too', async () => {
    const registry = createRegistry();
    const counts = new Map(
      Array.from({ length: 20_000 }, (_, i) => [`n${String((i * 7_919) % 20_011)}`, i] as const),
    );
    for (const [name, count] of counts) registry.count(name, count);
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const pieces = await inSlices(registry);
    isDone = true;
    expect(pieces.join('')).toBe(textOf(counts));
    expect(turns).toBeGreaterThan(40);
  });
});
