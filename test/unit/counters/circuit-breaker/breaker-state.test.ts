import {
  CLOSED,
  DEFAULT_BREAKER,
  stepBreaker,
  type BreakerEvent,
  type BreakerState,
} from '../../../../src/counters/circuit-breaker/circuit-breaker';

const options = { ...DEFAULT_BREAKER, failures: 3, windowCalls: 4 };
const asked = (atMs: number, oldestMs?: number): BreakerEvent => ({
  kind: 'asked',
  atMs,
  oldestMs,
});
const ended = (kind: 'succeeded' | 'failed' | 'timed-out', atMs: number, isProbe = false) =>
  ({ kind, atMs, isProbe }) as const;
const run = (events: readonly BreakerEvent[], from: BreakerState = CLOSED): BreakerState =>
  events.reduce((state, event) => stepBreaker(state, event, options), from);

const open: BreakerState = { kind: 'open', waitMs: 50, untilMs: 1_050 };
const halfOpen: BreakerState = { kind: 'half-open', waitMs: 50 };

describe('a closed breaker', () => {
  it.each<[string, readonly BreakerEvent[], BreakerState['kind']]>([
    ['stays closed below so many failures', [ended('failed', 1), ended('failed', 2)], 'closed'],
    ['opens at so many failures in a row', [1, 2, 3].map((at) => ended('failed', at)), 'open'],
    [
      'counts time-outs and other failures alike',
      [ended('failed', 1), ended('timed-out', 2), ended('failed', 3)],
      'open',
    ],
    [
      'begins anew after a success',
      [ended('failed', 1), ended('failed', 2), ended('succeeded', 3), ended('failed', 4)],
      'closed',
    ],
    [
      'opens when half the calls of a window timed out',
      [ended('timed-out', 1), ended('succeeded', 2), ended('succeeded', 3), ended('timed-out', 4)],
      'open',
    ],
    [
      'stays closed when less than half did',
      [ended('succeeded', 1), ended('succeeded', 2), ended('timed-out', 3), ended('succeeded', 4)],
      'closed',
    ],
    [
      'forgets what happened in an earlier window',
      [
        ended('timed-out', 1),
        ended('succeeded', 2),
        ended('timed-out', 3),
        ended('succeeded', 1_002),
        ended('timed-out', 1_003),
      ],
      'closed',
    ],
    ['opens when a call stays overdue', [asked(1_000, 0), asked(1_020, 0)], 'open'],
    ['gives unread answers the time to be read', [asked(1_000, 0), asked(1_019, 0)], 'closed'],
    ['is content when the overdue call ended', [asked(1_000, 0), asked(1_020, 900)], 'closed'],
    [
      'begins to wait anew for the next overdue call',
      [asked(1_000, 0), asked(1_010, 900), asked(1_990, 900), asked(2_000, 900)],
      'closed',
    ],
    ['does not mind that nothing is in flight', [asked(1_000), asked(9_000)], 'closed'],
  ])('%s', (_, events, kind) => {
    expect(run(events).kind).toBe(kind);
  });

  it('waits shortly before the first probe', () => {
    expect(run([1, 2, 1_000].map((at) => ended('failed', at)))).toEqual(open);
  });
});

describe('an open breaker', () => {
  it.each<[string, BreakerEvent, BreakerState]>([
    ['stays open until its wait is over', asked(1_049), open],
    ['lets a probe through then', asked(1_050), halfOpen],
    ['hears no more of earlier calls that succeed', ended('succeeded', 1_100), open],
    ['nor of those that fail', ended('timed-out', 1_100), open],
  ])('%s', (_, event, next) => {
    expect(run([event], open)).toEqual(next);
  });
});

describe('a half-open breaker', () => {
  it.each<[string, BreakerEvent, BreakerState]>([
    ['lets no second call through', asked(9_000), halfOpen],
    ['waits for its probe, not for earlier calls', ended('succeeded', 2_000), halfOpen],
    ['closes when the probe succeeds', ended('succeeded', 2_000, true), CLOSED],
    [
      'opens for twice as long when it fails',
      ended('failed', 2_000, true),
      { kind: 'open', waitMs: 100, untilMs: 2_100 },
    ],
  ])('%s', (_, event, next) => {
    expect(run([event], halfOpen)).toEqual(next);
  });

  it.each([
    ['failed', 250],
    ['timed-out', 1_000],
  ] as const)('waits at most so long while probes %s: %d ms', (kind, mostMs) => {
    let state: BreakerState = halfOpen;
    for (let probe = 0; probe < 9; probe += 1) {
      state = run([ended(kind, 0, true)], state);
      state = run([asked(1e9)], state);
    }
    expect(state).toEqual({ kind: 'half-open', waitMs: mostMs });
  });
});
