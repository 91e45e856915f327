import type { AlgorithmName } from '../../src/core/kinds/kinds';

/** Unix seconds: the start of a minute, 840 s into its hour. */
export const START = 1_700_000_040;

/** Seconds after the start, hits, and what the ask is answered; `near` and `state` where they matter. */
export type Row = readonly [
  at: number,
  hits: number,
  code: 'OK' | 'OVER',
  remaining: number,
  reset: number,
  near?: number,
  state?: readonly [used: number, ticksFromStart: number],
];

/** The limit of a rule. */
export interface VectorLimit {
  readonly name: AlgorithmName;
  readonly limit: number;
  readonly periodSeconds: number;
  readonly burst?: number;
  readonly chargeDenied?: boolean;
}

const algorithm = (
  name: AlgorithmName,
  limit: number,
  periodSeconds: number,
  more: Pick<VectorLimit, 'burst' | 'chargeDenied'> = {},
): VectorLimit => ({ name, limit, periodSeconds, ...more });

/** What each ask is answered; `reset` is 0 under fixed_window, whose end the arithmetic does not know. */
const eachOfEight = [1, 2, 3, 4, 5, 6, 7, 8].map((n): Row => [0, 1, 'OK', 10 - n, n, 0]);

export const VECTORS: readonly (readonly [string, VectorLimit, readonly Row[]])[] = [
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
      [30, 8, 'OK', 1, 60, 1, [9, 30_000_000]],
      [59.999, 1, 'OK', 0, 60, 1, [10, 59_999_000]],
      [59.999, 1, 'OVER', 0, 1, 0, [10, 59_999_000]],
      [60, 1, 'OK', 0, 60, 1, [10, 60_000_000]],
      [60, 1, 'OVER', 0, 30, 0, [10, 60_000_000]],
      [60, 8, 'OVER', 0, 30, 0, [10, 60_000_000]],
      [60, 9, 'OVER', 0, 60, 0, [10, 60_000_000]],
      [60, 11, 'OVER', 0, 60, 0, [10, 60_000_000]],
      [89.999, 1, 'OVER', 0, 1, 0, [10, 60_000_000]],
      [90, 8, 'OK', 0, 60, 2, [10, 90_000_000]],
      [90, -3, 'OK', 3, 60, 0, [7, 90_000_000]],
      [119, 0, 'OK', 3, 31],
      [150, 0, 'OK', 10, 0],
    ],
  ],
  [
    'S2: sliding_window of 100 per minute, a burst at the end of a window',
    algorithm('sliding_window', 100, 60),
    [
      [59, 100, 'OK', 0, 1, 20],
      [60, 1, 'OK', 0, 60, 1],
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
      [0, 50, 'OVER', 0, 3300],
      [0, 0, 'OK', 40, 2760],
      [0, 40, 'OK', 0, 2760, 20],
      [0, 1, 'OVER', 0, 2760],
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
      [10, 8, 'OVER', 0, 60, 0, [16, 10_000_000]],
      [10, 0, 'OVER', 0, 50],
      [60, 1, 'OK', 1, 60, 1, [9, 60_000_000]],
      [70, 100, 'OVER', 0, 60, 0, [64, 70_000_000]],
      [130, 1, 'OK', 9, 60, 0, [1, 130_000_000]],
    ],
  ],
  [
    'S5: sliding_window of 100 per minute that charges what it refuses',
    algorithm('sliding_window', 100, 60, { chargeDenied: true }),
    [
      [0, 80, 'OK', 20, 60],
      [0, 80, 'OVER', 0, 113, 0, [160, 0]],
      [60, 10, 'OVER', 0, 30, 0, [10, 60_000_000]],
      [100, 10, 'OK', 27, 20, 0, [20, 60_000_000]],
      [120, 10, 'OK', 71, 60],
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
    algorithm('sliding_window', 100, 60),
    [
      [60, 100, 'OK', 0, 60],
      [57, 1, 'OVER', 0, 63],
      [57, 0, 'OK', 0, 63],
      [57, -40, 'OK', 40, 63, 0, [60, 60_000_000]],
      [57, 40, 'OK', 0, 63],
    ],
  ],
  [
    'a clock that goes back under a small sliding_window: its hits stay the latest',
    algorithm('sliding_window', 10, 60),
    [
      [60, 8, 'OK', 2, 60],
      [57, 2, 'OK', 0, 63, 2, [10, 57_000_000]],
      [57, 1, 'OVER', 0, 63],
      [119.999, 1, 'OVER', 0, 1],
      [120, 1, 'OK', 9, 60],
    ],
  ],
];
