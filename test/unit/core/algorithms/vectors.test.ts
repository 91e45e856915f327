import { toAlgorithm, type Algorithm } from '../../../../src/core/algorithms/algorithm';
import { lifetimeMs } from '../../../../src/core/algorithms/apply-asks';
import { nearHits } from '../../../../src/core/algorithms/outcome';
import { tickAt } from '../../../../src/core/algorithms/ticks';
import { nearLimitThreshold } from '../../../../src/core/decision/verdict';
import { AlgorithmCounter } from '../../../support/algorithm-counter';

const START = 1_700_000_040;

/** Seconds after the start, hits, and what the ask is answered; `near` and `state` where they matter. */
type Row = readonly [
  at: number,
  hits: number,
  code: 'OK' | 'OVER',
  remaining: number,
  reset: number,
  near?: number,
  state?: readonly [used: number, ticksFromStart: number],
];

const algorithm = (
  name: Algorithm['name'],
  limit: number,
  periodSeconds: number,
  more: { burst?: number; chargeDenied?: boolean } = {},
): Algorithm => {
  const definition = { name, limit, periodSeconds, burst: more.burst };
  const made = toAlgorithm({ ...definition, chargeDenied: more.chargeDenied });
  if (made === undefined) throw new Error('a fixed window that charges what it refuses');
  return made;
};

const play = (rule: Algorithm, rows: readonly Row[], counter = new AlgorithmCounter()) => {
  const startTick = tickAt(START, rule.tickMicros);
  return rows.map((row): Row => {
    const [at, hits, , , , near, state] = row;
    const found = counter.ask(rule, tickAt(START + at, rule.tickMicros), hits);
    const { isOver, remaining, resetSeconds, used } = found;
    const threshold = nearLimitThreshold(rule.size, 0.8);
    const answered: Row = [at, hits, isOver ? 'OVER' : 'OK', remaining, resetSeconds];
    if (near === undefined) return answered;
    const counted = isOver ? 0 : nearHits(threshold, Math.max(hits, 0), used);
    if (state === undefined) return [...answered, counted] as unknown as Row;
    const [units, tick] = counter.state ?? [0, startTick];
    return [...answered, counted, [units, tick - startTick]] as unknown as Row;
  });
};

const eachOfEight = [1, 2, 3, 4, 5, 6, 7, 8].map((n): Row => [0, 1, 'OK', 10 - n, n, 0]);

const VECTORS: readonly (readonly [string, Algorithm, readonly Row[]])[] = [
  [
    'G1: gcra of 60 per minute, burst 10',
    algorithm('gcra', 60, 60, { burst: 10 }),
    [
      ...eachOfEight,
      [0, 1, 'OK', 1, 9, 1, [540_000_000, 0]],
      [0, 1, 'OK', 0, 10, 1, [600_000_000, 0]],
      [0, 1, 'OVER', 0, 1, 0, [600_000_000, 0]],
      [0.999, 1, 'OVER', 0, 1, 0, [600_000_000, 0]],
      [1, 1, 'OK', 0, 10, 1, [600_000_000, 1_000_000]],
      [1, 1, 'OVER', 0, 1, 0, [600_000_000, 1_000_000]],
      [3.5, 1, 'OK', 1, 9, 1, [510_000_000, 3_500_000]],
      [3.5, 1, 'OK', 0, 10, 1, [570_000_000, 3_500_000]],
      [3.5, 1, 'OVER', 0, 1, 0, [570_000_000, 3_500_000]],
      [60, 0, 'OK', 10, 0, 0],
    ],
  ],
  [
    'G2: gcra of 7 per second, burst 3',
    algorithm('gcra', 7, 1, { burst: 3 }),
    [
      [0, 1, 'OK', 2, 1],
      [0, 1, 'OK', 1, 1],
      [0, 1, 'OK', 0, 1, 1, [3_000_000, 0]],
      [0, 1, 'OVER', 0, 1],
      [0.142, 1, 'OVER', 0, 1],
      [0.143, 1, 'OK', 0, 1, 1, [2_999_000, 143_000]],
      [0.285, 1, 'OVER', 0, 1],
      [0.286, 1, 'OK', 0, 1, 1, [2_998_000, 286_000]],
      [0.428, 1, 'OVER', 0, 1],
      [0.429, 1, 'OK', 0, 1, 1, [2_997_000, 429_000]],
      [1, 0, 'OK', 3, 0],
      [1.001, 3, 'OK', 0, 1, 1, [3_000_000, 1_001_000]],
    ],
  ],
  [
    'G3: gcra of 100 per hour without a burst',
    algorithm('gcra', 100, 3_600),
    [
      [0, 60, 'OK', 40, 2160, 0],
      [0, 0, 'OK', 40, 2160, 0],
      [0, 50, 'OVER', 0, 360, 0],
      [0, 40, 'OK', 0, 3600, 20],
      [0, 1, 'OVER', 0, 36, 0],
      [36, 1, 'OK', 0, 3600, 1],
      [36, -10, 'OK', 10, 3240, 0],
      [36, 12, 'OVER', 0, 72, 0],
      [36, 9, 'OK', 1, 3564, 9],
      [36, 101, 'OVER', 0, 3564, 0],
      [3636, 0, 'OK', 100, 0, 0],
    ],
  ],
  [
    'G4: gcra of 10 per minute that charges what it refuses',
    algorithm('gcra', 10, 60, { burst: 10, chargeDenied: true }),
    [
      [0, 4, 'OK', 6, 24, 0, [240_000_000, 0]],
      [0, 20, 'OVER', 0, 144, 0, [1_440_000_000, 0]],
      [0, 0, 'OVER', 0, 84, 0, [1_440_000_000, 0]],
      [0, 1, 'OVER', 0, 96, 0, [1_500_000_000, 0]],
      [60, 0, 'OVER', 0, 30],
      [90, 0, 'OK', 0, 60],
      [96, 1, 'OK', 0, 60, 1, [600_000_000, 96_000_000]],
      [96, -5, 'OK', 5, 30, 0, [300_000_000, 96_000_000]],
    ],
  ],
  [
    'S1: sliding_window of 10 per minute',
    algorithm('sliding_window', 10, 60),
    [
      [0, 1, 'OK', 9, 60, 0, [1, 0]],
      [30, 8, 'OK', 1, 30, 1, [9, 0]],
      [59.999, 1, 'OK', 0, 1, 1, [10, 0]],
      [59.999, 1, 'OVER', 0, 7, 0, [10, 0]],
      [60, 1, 'OVER', 0, 6, 0, [10, 0]],
      [65.999, 1, 'OVER', 0, 1, 0, [10, 0]],
      [66, 1, 'OK', 0, 54, 1, [1, 60_000_000]],
      [66, 1, 'OVER', 0, 6, 0, [1, 60_000_000]],
      [90, 1, 'OK', 3, 30, 0, [2, 60_000_000]],
      [90, 4, 'OVER', 0, 6, 0, [2, 60_000_000]],
      [90, 3, 'OK', 0, 30, 2, [5, 60_000_000]],
      [120, 0, 'OK', 5, 60, 0],
      [180, 0, 'OK', 10, 60, 0],
    ],
  ],
  [
    'S2: sliding_window of 100 per minute, a burst at the end of a window',
    algorithm('sliding_window', 100, 60),
    [
      [59, 100, 'OK', 0, 1, 20],
      [60, 1, 'OVER', 0, 1, 0],
      [60.6, 1, 'OK', 0, 60, 1],
      [61, 1, 'OVER', 0, 1, 0],
      [75, 20, 'OK', 4, 45, 16],
      [75, 24, 'OVER', 0, 12, 0],
      [90, 30, 'OVER', 0, 1, 0],
      [119.999, 30, 'OK', 48, 1, 0],
      [120, 0, 'OK', 49, 60, 0],
      [121.2, 1, 'OK', 49, 59, 0],
    ],
  ],
  [
    'S3: sliding_window of 100 per hour',
    algorithm('sliding_window', 100, 3_600),
    [
      [0, 60, 'OK', 40, 2760],
      [0, 50, 'OVER', 0, 3360],
      [0, 0, 'OK', 40, 2760],
      [0, 40, 'OK', 0, 2760, 20],
      [0, 1, 'OVER', 0, 2796],
      [0, -10, 'OK', 10, 2760],
      [0, 5, 'OK', 5, 2760, 5],
      [0, 101, 'OVER', 0, 2760],
    ],
  ],
  [
    'S4: sliding_window of 10 per minute that charges what it refuses',
    algorithm('sliding_window', 10, 60, { chargeDenied: true }),
    [
      [0, 8, 'OK', 2, 60],
      [0, 8, 'OVER', 0, 113, 0, [16, 0]],
      [0, 0, 'OVER', 0, 83],
      [60, 1, 'OVER', 0, 30, 0, [1, 60_000_000]],
      [80, 1, 'OVER', 0, 14],
      [100, 1, 'OK', 1, 20, 1, [3, 60_000_000]],
      [120, 1, 'OK', 6, 60],
    ],
  ],
  [
    'F1: fixed_window of 10 that does not charge what it refuses',
    algorithm('fixed_window', 10, 60, { chargeDenied: false }),
    [
      [0, 8, 'OK', 2, 0],
      [0, 4, 'OVER', 0, 0, 0, [8, 0]],
      [0, 2, 'OK', 0, 0],
      [0, 1, 'OVER', 0, 0],
      [0, 0, 'OK', 0, 0],
      [0, -3, 'OK', 3, 0],
      [0, 3, 'OK', 0, 0],
    ],
  ],
  [
    'a gcra clock that goes back: waits are counted from now',
    algorithm('gcra', 60, 60, { burst: 2 }),
    [
      [5, 2, 'OK', 0, 2],
      [3, 1, 'OVER', 0, 3],
      [3, 0, 'OK', 0, 4],
      [3, -1, 'OK', 1, 3, 0, [60_000_000, 5_000_000]],
    ],
  ],
  [
    'a sliding_window clock that goes back: the later window holds, at its start',
    algorithm('sliding_window', 10, 60),
    [
      [60, 10, 'OK', 0, 60],
      [57, 1, 'OVER', 0, 69],
      [57, 0, 'OK', 0, 63],
      [57, -4, 'OK', 4, 63, 0, [6, 60_000_000]],
      [57, 4, 'OK', 0, 63],
    ],
  ],
];

describe('the answers of an algorithm', () => {
  it.each(VECTORS)('%s', (_, rule, rows) => {
    expect(play(rule, rows)).toEqual(rows);
  });

  it('G5: keep what was used when the limit and the burst change', () => {
    const counter = new AlgorithmCounter();
    const before = algorithm('gcra', 60, 60, { burst: 10 });
    const after = algorithm('gcra', 120, 60, { burst: 5 });
    const steps: readonly (readonly [Algorithm, Row])[] = [
      [before, [0, 8, 'OK', 2, 8]],
      [after, [0, 0, 'OVER', 0, 2]],
      [after, [1, 1, 'OVER', 0, 1]],
      [after, [1.5, 0, 'OK', 0, 3]],
      [after, [2, 1, 'OK', 0, 3]],
      [before, [2, 0, 'OK', 5, 5]],
      [before, [10, 0, 'OK', 10, 0]],
    ];
    for (const [rule, row] of steps) expect(play(rule, [row], counter)).toEqual([row]);
  });

  it('keep a gcra counter for a second longer than anything of it is in use', () => {
    const rule = algorithm('gcra', 60, 60, { burst: 10 });
    const life = (used: number, elapsed = 0) => lifetimeMs(rule, { used, previous: 0, elapsed });
    expect([60_000_000, 600_000_000, 510_000_000].map((used) => life(used))).toEqual([
      2_000, 11_000, 9_500,
    ]);
    expect(life(60_000_000, -2_500_000)).toBe(4_500);
    expect(life(1)).toBe(1_001);
  });

  it('keep a sliding window until the end of the next one', () => {
    const rule = algorithm('sliding_window', 10, 60);
    const life = (elapsed: number) => lifetimeMs(rule, { used: 1, previous: 0, elapsed });
    expect([0, 59_999_999, -3_000_000].map(life)).toEqual([121_000, 61_001, 124_000]);
  });

  it('keep a debt no longer than a duration can say', () => {
    const rule = algorithm('gcra', 1, 90_000_000, { chargeDenied: true });
    const counter = new AlgorithmCounter();
    expect(counter.ask(rule, 0, 2 ** 63).resetSeconds).toBe(315_576_000_000);
    expect(counter.state).toEqual([Number.MAX_SAFE_INTEGER, 0]);
    const standing = { used: Number.MAX_SAFE_INTEGER, previous: 0, elapsed: 0 };
    expect(lifetimeMs(rule, standing)).toBe(315_576_000_001_000);
  });

  it('stop the debt of a sliding window at 100,000,000 hits', () => {
    const counter = new AlgorithmCounter();
    counter.ask(algorithm('sliding_window', 1, 60, { chargeDenied: true }), 0, 2 ** 63);
    expect(counter.state?.[0]).toBe(100_000_000);
  });
});

describe('an algorithm', () => {
  it.each([
    ['a fixed window that charges what it refuses', 'fixed_window', 10, undefined],
    ['a limit of 0', 'gcra', 0, undefined],
  ] as const)('is none for %s', (_, name, limit, burst) => {
    const definition = { name, limit, burst, periodSeconds: 60, chargeDenied: undefined };
    expect(toAlgorithm(definition)).toBeUndefined();
  });

  it.each([
    ['gcra', 60, '_60s~g'],
    ['sliding_window', 2_592_000, '_2592000s~s'],
  ] as const)('ends its keys with the period and a letter: %s of %d s', (name, period, keyEnd) => {
    expect(algorithm(name, 1, period).keyEnd).toBe(keyEnd);
  });
});
