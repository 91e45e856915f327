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
