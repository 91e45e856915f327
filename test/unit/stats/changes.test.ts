import fc from 'fast-check';
import { createChanges, type Change } from '../../../src/stats/push-output';
import { countOf } from '../../../src/stats/histogram';
import { readChanges } from '../../support/read-changes';
import { createRegistry } from '../../../src/stats/registry';
import { readCounters } from '../../support/read-counters';

const told = (changes: Iterable<Change>) =>
  [...changes].map((change) => {
    if (change.kind === 'counter') return [change.name, change.delta, change.total];
    if (change.kind === 'gauge') return [change.name, change.value];
    return [change.name, countOf(change.samples)];
  });

describe('createChanges', () => {
  it('tells counters, gauges and timers that changed', () => {
    const registry = createRegistry();
    registry.count('hits', 3);
    registry.count('none', 0);
    registry.gauge('open', () => 2);
    registry.time('took', 1, 5);
    expect(told(readChanges(createChanges(registry)))).toEqual([
      ['hits', 3, 3],
      ['open', 2],
      ['took', 5],
    ]);
  });

  it('tells once what was acknowledged, and what came since', () => {
    const registry = createRegistry();
    const changes = createChanges(registry);
    registry.count('hits', 3);
    registry.time('took', 1, 5);
    for (const change of readChanges(changes)) changes.acknowledge(change);
    expect(told(readChanges(changes))).toEqual([]);
    registry.count('hits', 2);
    registry.time('took', 1, 1);
    expect(told(readChanges(changes))).toEqual([
      ['hits', 2, 5],
      ['took', 1],
    ]);
  });

  it('tells again what was not acknowledged', () => {
    const registry = createRegistry();
    const changes = createChanges(registry);
    registry.count('hits', 3);
    expect(told(readChanges(changes))).toEqual([['hits', 3, 3]]);
    registry.count('hits', 1);
    expect(told(readChanges(changes))).toEqual([['hits', 4, 4]]);
  });

  it('loses nothing of what is counted between reading and acknowledging', () => {
    const registry = createRegistry();
    const changes = createChanges(registry);
    registry.count('hits', 3);
    registry.time('took', 1, 1);
    const read = readChanges(changes);
    registry.count('hits', 4);
    registry.time('took', 1, 2);
    for (const change of read) changes.acknowledge(change);
    expect(told(readChanges(changes))).toEqual([
      ['hits', 4, 7],
      ['took', 2],
    ]);
  });

  it('adds up to the total however many flushes fail', () => {
    const step = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      by: fc.nat({ max: 9 }),
      flush: fc.constantFrom('none', 'lost', 'half', 'sent'),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const registry = createRegistry();
        const changes = createChanges(registry);
        const received = new Map<string, number>();
        const send = (change: Change) => {
          if (change.kind !== 'counter') return;
          received.set(change.name, (received.get(change.name) ?? 0) + change.delta);
          changes.acknowledge(change);
        };
        for (const { name, by, flush } of steps) {
          registry.count(name, by);
          const read = flush === 'none' ? [] : readChanges(changes);
          if (flush === 'sent') read.forEach(send);
          if (flush === 'half') read.slice(0, read.length / 2).forEach(send);
        }
        for (const change of readChanges(changes)) send(change);
        for (const [name, { value }] of readCounters(registry)) {
          expect(received.get(name) ?? 0).toBe(value);
        }
      }),
    );
  });
});
