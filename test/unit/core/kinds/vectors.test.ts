import { limiterOf, type StateLimiter } from '../../../support/limiters';
import { count } from '../../../../src/core/kinds/window';
import { toLimiter, type AlgorithmName } from '../../../../src/core/kinds/kinds';
import { tickAt } from '../../../../src/core/kinds/ticks';
import { nearHits } from '../../../../src/core/kinds/whole';
import { lifetimeMs } from '../../../../src/core/kinds/limiter';
import { nearLimitThreshold } from '../../../../src/core/decision/verdict';
import { AlgorithmCounter } from '../../../support/algorithm-counter';
import { START, VECTORS, type Row } from '../../../support/algorithm-vectors';

const algorithm = (
  name: AlgorithmName,
  limit: number,
  periodSeconds: number,
  more: { burst?: number; chargeDenied?: boolean } = {},
): StateLimiter => {
  const definition = { name, limit, periodSeconds, burst: more.burst };
  return limiterOf({ ...definition, chargeDenied: more.chargeDenied });
};

const play = (rule: StateLimiter, rows: readonly Row[], counter = new AlgorithmCounter()) => {
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
    const [units, tick] = counter.stored ?? [0, startTick];
    return [...answered, counted, [units, tick - startTick]] as unknown as Row;
  });
};

describe('the answers of an algorithm', () => {
  it.each(VECTORS)('%s', (_, { name, limit, periodSeconds, ...more }, rows) => {
    expect(play(algorithm(name, limit, periodSeconds, more), rows)).toEqual(rows);
  });

  it('G5: keep what was used when the limit and the burst change', () => {
    const counter = new AlgorithmCounter();
    const before = algorithm('gcra', 60, 60, { burst: 10 });
    const after = algorithm('gcra', 120, 60, { burst: 5 });
    const steps: readonly (readonly [StateLimiter, Row])[] = [
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
    const rule = algorithm('sliding_window', 100, 60);
    const life = (elapsed: number) => lifetimeMs(rule, { used: 1, previous: 0, elapsed });
    expect([0, 59_999_999, -3_000_000].map(life)).toEqual([121_000, 61_001, 124_000]);
  });

  it('keep a debt no longer than a duration can say', () => {
    const rule = algorithm('gcra', 1, 90_000_000, { chargeDenied: true });
    const counter = new AlgorithmCounter();
    expect(counter.ask(rule, 0, 2 ** 63).resetSeconds).toBe(315_576_000_000);
    expect(counter.stored).toEqual([Number.MAX_SAFE_INTEGER, 0]);
    const state = { used: Number.MAX_SAFE_INTEGER, previous: 0, elapsed: 0 };
    expect(lifetimeMs(rule, state)).toBe(315_576_000_001_000);
  });

  it('stop the debt of a sliding window at 100,000,000 hits, of a small one at 64', () => {
    const counter = new AlgorithmCounter();
    counter.ask(algorithm('sliding_window', 1, 60, { chargeDenied: true }), 0, 2 ** 63);
    expect(counter.stored?.[0]).toBe(64);
    const wide = new AlgorithmCounter();
    wide.ask(algorithm('sliding_window', 100, 60, { chargeDenied: true }), 0, 2 ** 63);
    expect(wide.stored?.[0]).toBe(100_000_000);
  });
});

describe('an algorithm', () => {
  it.each([
    ['a fixed window that charges what it refuses', 'fixed_window', 10, undefined],
  ] as const)('is a plain count for %s', (_, algorithmName, limit, burst) => {
    const definition = { algorithm: algorithmName, limit, burst, periodSeconds: 60 };
    expect(toLimiter(definition).kind).toBe(count);
  });

  it.each([
    ['gcra', 60, '_60s~g'],
    ['sliding_window', 2_592_000, '_2592000s~l'],
  ] as const)('ends its keys with the period and a letter: %s of %d s', (name, period, keyEnd) => {
    expect(algorithm(name, 64, period).keyEnd).toBe(keyEnd);
    expect(algorithm('sliding_window', 65, 60).keyEnd).toBe('_60s~s');
  });

  it.each(['gcra', 'sliding_window', 'fixed_window'] as const)(
    'admits nothing under a limit of 0, charges nothing and owes nothing: %s',
    (name) => {
      const rule = algorithm(name, 0, 60, { burst: 20, chargeDenied: name !== 'fixed_window' });
      expect([rule.kind.words.name, rule.kind.readsFirst, rule.size]).toEqual([name, true, 0]);
      const counter = new AlgorithmCounter();
      const { isOver, remaining, resetSeconds } = counter.ask(rule, 0, 3);
      expect([isOver, remaining, resetSeconds]).toEqual([true, 0, rule.kind.isRecord ? 1 : 0]);
      expect(counter.stored).toBeUndefined();
    },
  );
});
