import fc from 'fast-check';
import { linesOf } from '../../../src/stats/dump';
import { dumpTextInSlices } from '../../../src/stats/dump-in-slices';
import { createRegistry } from '../../../src/stats/registry';

async function inSlices(registry: ReturnType<typeof createRegistry>): Promise<string[]> {
  const pieces: string[] = [];
  for await (const piece of dumpTextInSlices(registry)) pieces.push(piece);
  return pieces;
}

describe('dumpTextInSlices', () => {
  it('says the same as the dump in one piece', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ maxLength: 3 })), async (names) => {
        const registry = createRegistry();
        for (const name of names) registry.count(name, 1);
        expect((await inSlices(registry)).join('')).toBe(
          `${[...linesOf(registry)].sort().join('\n')}\n`,
        );
      }),
    );
  });

  it('gives other work its turn all the time, with many statistics too', async () => {
    const registry = createRegistry();
    for (let i = 0; i < 20_000; i += 1) registry.count(`n${String((i * 7_919) % 20_011)}`, i);
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const pieces = await inSlices(registry);
    isDone = true;
    expect(pieces.join('')).toBe(`${[...linesOf(registry)].sort().join('\n')}\n`);
    expect(turns).toBeGreaterThan(40);
  });
});
