import fc from 'fast-check';
import { push, type Change, createChanges } from '../../../src/stats/push-output';
import { createRegistry } from '../../../src/stats/registry';
import { createPlainNaming } from '../../../src/stats/names';
import { statsdLines } from '../../../src/stats/statsd/create-statsd';
import { createRecordingSink } from '../../support/recording-sink';
import { readCounters } from '../../support/read-counters';

const plainLines = (change: Change) => statsdLines(change, createPlainNaming());

const { signal } = new AbortController();

function setUp(maxBytes: number, fails?: (send: number) => boolean) {
  const registry = createRegistry();
  const recording = createRecordingSink(maxBytes, fails);
  const deps = { changes: createChanges(registry), sink: recording.sink, toLines: plainLines };
  return { ...recording, registry, deps };
}

/** What a server would have counted of the lines. */
function received(sent: readonly string[]): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const line of sent.flatMap((chunk) => chunk.split('\n'))) {
    const [name = '', value] = line.split(/[:|]/);
    totals[name] = (totals[name] ?? 0) + Number(value);
  }
  return totals;
}

describe('push', () => {
  it('sends whole lines, as many as fit into one send', async () => {
    const { registry, deps, sent } = setUp(14);
    for (const name of ['a', 'b', 'c']) registry.count(name, 1);
    expect(await push(deps, signal)).toEqual({ lines: 3, error: undefined });
    expect(sent).toEqual(['a:1|c\nb:1|c', 'c:1|c']);
  });

  it('counts bytes, not characters', async () => {
    const { registry, deps, sent } = setUp(14);
    registry.count('ä', 1);
    registry.count('日', 1);
    await push(deps, signal);
    expect(sent).toEqual(['ä:1|c', '日:1|c']);
  });

  it('sends a line that is too long alone', async () => {
    const { registry, deps, sent } = setUp(4);
    registry.count('long.name', 1);
    registry.count('b', 1);
    await push(deps, signal);
    expect(sent).toEqual(['long.name:1|c', 'b:1|c']);
  });

  it('sends nothing when nothing changed', async () => {
    const { deps, sent, seen } = setUp(14);
    expect(await push(deps, signal)).toEqual({ lines: 0, error: undefined });
    expect(sent).toEqual([]);
    expect(seen.endedFlushes).toBe(1);
  });

  it('stops at the first refusal and says so, and sends the rest the next time', async () => {
    const { registry, deps, sent, seen } = setUp(7, (send) => send === 1);
    for (const name of ['a', 'b', 'c']) registry.count(name, 1);
    const flush = await push(deps, signal);
    expect(flush).toMatchObject({ lines: 1, error: { message: 'refused' } });
    expect(seen).toEqual({ sends: 2, endedFlushes: 1 });
    registry.count('b', 5);
    await push(deps, signal);
    expect(sent).toEqual(['a:1|c', 'b:6|c', 'c:1|c']);
  });

  it('lets other work have its turn between two sends', async () => {
    const { registry, deps, sent } = setUp(7);
    for (let i = 0; i < 10; i += 1) registry.count(i.toString(), 1);
    const sentByTurn: number[] = [];
    const look = () => {
      sentByTurn.push(sent.length);
      if (sent.length < 10) setImmediate(look);
    };
    setImmediate(look);
    await push(deps, signal);
    const steps = sentByTurn.map((count, i) => count - (sentByTurn[i - 1] ?? 0));
    expect(Math.max(...steps)).toBe(1);
  });

  it('lets other work have its turn while it looks at series that did not change', async () => {
    const { registry, deps } = setUp(1_000);
    const size = 2_000;
    for (let i = 0; i < size; i += 1) registry.rules.of(`shop.${i.toString()}`);
    let turns = 0;
    const look = () => {
      turns += 1;
      if (turns < size) setImmediate(look);
    };
    setImmediate(look);
    await push(deps, signal);
    const seen = turns;
    turns = size;
    expect(seen).toBeGreaterThan(10);
  });

  it('sends nothing more once it is cancelled', async () => {
    const { registry, deps, sent } = setUp(7);
    registry.count('a', 1);
    const flush = await push(deps, AbortSignal.abort());
    expect(flush.error).toBeDefined();
    expect(sent).toEqual([]);
  });

  it('lets a server count every hit, whichever sends fail', async () => {
    const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.nat({ max: 9 })));
    await fc.assert(
      fc.asyncProperty(steps, fc.array(fc.boolean()), async (list, failures) => {
        const { registry, deps, sent } = setUp(7, (send) => failures[send] ?? false);
        for (const [name, by] of list) {
          registry.count(name, by);
          await push(deps, signal);
        }
        for (let i = 0; i <= failures.length; i += 1) await push(deps, signal);
        const totals = [...readCounters(registry)].map(
          ([name, { value }]) => [name, value] as const,
        );
        expect(received(sent)).toEqual(Object.fromEntries(totals.filter(([, v]) => v > 0)));
      }),
    );
  });
});
