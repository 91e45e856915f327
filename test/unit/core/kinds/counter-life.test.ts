import { limiterOf, type StateLimiter } from '../../../support/limiters';
import { count } from '../../../../src/core/kinds/window';
import { toLimiter, type AlgorithmName } from '../../../../src/core/kinds/kinds';
import { lifetimeMs } from '../../../../src/core/kinds/limiter';
import { AlgorithmCounter } from '../../../support/algorithm-counter';

const algorithm = (
  name: AlgorithmName,
  limit: number,
  periodSeconds: number,
  more: { burst?: number; chargeDenied?: boolean } = {},
): StateLimiter => {
  const definition = { name, limit, periodSeconds, burst: more.burst };
  return limiterOf({ ...definition, chargeDenied: more.chargeDenied });
};

describe('the counter of an algorithm', () => {
  it('is kept under gcra for a second longer than anything of it is in use', () => {
    const rule = algorithm('gcra', 60, 60, { burst: 10 });
    const life = (used: number, elapsed = 0) => lifetimeMs(rule, { used, previous: 0, elapsed });
    expect([60_000_000, 600_000_000, 510_000_000].map((used) => life(used))).toEqual([
      2_000, 11_000, 9_500,
    ]);
    expect(life(60_000_000, -2_500_000)).toBe(4_500);
    expect(life(1)).toBe(1_001);
  });

  it('is kept under a sliding window until the end of the next one', () => {
    const rule = algorithm('sliding_window', 100, 60);
    const life = (elapsed: number) => lifetimeMs(rule, { used: 1, previous: 0, elapsed });
    expect([0, 59_999_999, -3_000_000].map(life)).toEqual([121_000, 61_001, 124_000]);
  });

  it('is kept in debt no longer than a duration can say', () => {
    const rule = algorithm('gcra', 1, 90_000_000, { chargeDenied: true });
    const counter = new AlgorithmCounter();
    expect(counter.ask(rule, 0, 2 ** 63).resetSeconds).toBe(315_576_000_000);
    expect(counter.stored).toEqual([Number.MAX_SAFE_INTEGER, 0]);
    const state = { used: Number.MAX_SAFE_INTEGER, previous: 0, elapsed: 0 };
    expect(lifetimeMs(rule, state)).toBe(315_576_000_001_000);
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
