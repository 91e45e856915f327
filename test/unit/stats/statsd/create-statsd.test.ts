import fc from 'fast-check';
import { readChanges } from '../../../support/read-changes';
import { createChanges } from '../../../../src/stats/push-output';
import { createPlainNaming } from '../../../../src/stats/names';
import { createRegistry, type Registry } from '../../../../src/stats/registry';
import { statsdLines } from '../../../../src/stats/statsd/create-statsd';

function linesOf(count: (registry: Registry) => void): string[] {
  const registry = createRegistry();
  count(registry);
  const lines: string[] = [];
  for (const change of readChanges(createChanges(registry))) {
    for (const { text } of statsdLines(change, createPlainNaming())) lines.push(text);
  }
  return lines;
}

describe('statsdLines', () => {
  it('writes a counter as the difference', () => {
    expect(
      linesOf((r) => {
        r.count('hits', 12);
      }),
    ).toEqual(['hits:12|c']);
  });

  it('writes a gauge as it is, and one below 0 from 0 down', () => {
    const lines = linesOf((registry) => {
      registry.gauge('open', () => 7);
      registry.gauge('part', () => 0.25);
      registry.gauge('debt', () => -3);
    });
    expect(lines).toEqual(['open:7|g', 'part:0.25|g', 'debt:0|g\ndebt:-3|g']);
  });

  it.each([
    [0, 'took:0|ms'],
    [0.42, 'took:0.42'],
    [123, 'took:12'],
    [86_000_000, 'took:86'],
  ])(
    'writes a duration of %d ms with the value of its bucket, without an exponent',
    (ms, start) => {
      const [line = ''] = linesOf((r) => {
        r.time('took', ms, 1);
      });
      expect(line.startsWith(start)).toBe(true);
      expect(line).toMatch(/^took:[0-9.]+\|ms$/);
    },
  );

  it('writes up to a thousand samples of a timer one by one', () => {
    const lines = linesOf((registry) => {
      registry.time('took', 1, 998);
      registry.time('took', 5, 2);
    });
    expect(lines).toHaveLength(1000);
    expect(new Set(lines).size).toBe(2);
  });

  it('writes more samples by bucket, with the share of them that a line stands for', () => {
    const lines = linesOf((registry) => {
      registry.time('took', 1, 1000);
      registry.time('took', 5, 1);
    });
    expect(lines).toEqual([
      expect.stringMatching(/^took:[0-9.]+\|ms\|@0.001$/),
      expect.stringMatching(/^took:[0-9.]+\|ms$/),
    ]);
  });

  it('gives a rate from which a server that cuts to whole numbers gets every sample back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1001, max: 1_000_000_000 }), (times) => {
        const [line = ''] = linesOf((r) => {
          r.time('took', 1, times);
        });
        const rate = Number(line.split('|@')[1]);
        expect(Math.trunc(1 / rate)).toBe(times);
      }),
    );
  });

  it('tells each change completely, in parts that add up to it', () => {
    const parts = fc.array(
      fc.tuple(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.nat({ max: 400 })),
    );
    fc.assert(
      fc.property(parts, (list) => {
        const registry = createRegistry();
        for (const [ms, times] of list) registry.time('took', ms, times);
        const changes = createChanges(registry);
        for (const change of readChanges(changes)) {
          for (const line of statsdLines(change, createPlainNaming()))
            changes.acknowledge(line.change);
        }
        expect(readChanges(changes)).toEqual([]);
      }),
    );
  });
});
