import fc from 'fast-check';
import type { Steps } from '../../../src/core/steps';
import { dumpText } from '../../../src/stats/dump';
import { createRegistry } from '../../../src/stats/registry';
import { runSteps } from '../../support/run-steps';

async function inSlices(registry: ReturnType<typeof createRegistry>): Promise<string[]> {
  const pieces: string[] = [];
  await runSteps(dumpText(registry), (piece) => pieces.push(piece));
  return pieces;
}

/** The lines of counters of these names and values, sorted. */
function textOf(counts: ReadonlyMap<string, number>): string {
  const lines = [...counts].map(([name, count]) => `${name}: ${String(count)}`);
  return `${[...lines, 'ratelimit.statistics.overflow: 0'].sort().join('\n')}\n`;
}

describe('dumpText', () => {
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

  it('never does more than a few hundred lines in one step, with many statistics too', async () => {
    const registry = createRegistry();
    const counts = new Map(
      Array.from({ length: 20_000 }, (_, i) => [`n${String((i * 7_919) % 20_011)}`, i] as const),
    );
    for (const [name, count] of counts) registry.count(name, count);
    let steps = 0;
    const counted = function* (): Steps<void, string> {
      for (const step of dumpText(registry)) {
        steps += 1;
        yield step;
      }
    };
    const pieces: string[] = [];
    await runSteps(counted(), (piece) => pieces.push(piece));
    expect(pieces.join('')).toBe(textOf(counts));
    for (const piece of pieces) expect(piece.split('\n').length).toBeLessThan(200);
    expect(steps).toBeGreaterThan(400);
  });
});
