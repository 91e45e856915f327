import { limiterOf, type StateLimiter } from '../../../support/limiters';
import { KINDS, type AlgorithmName } from '../../../../src/core/kinds/kinds';
import type { Kind } from '../../../../src/core/kinds/kind';
import { lifetimeMs, compileLimiter, usedHits } from '../../../../src/core/kinds/limiter';
import { tickAt } from '../../../../src/core/kinds/ticks';

const NOW = 1_795_240_205;

function algorithm(name: AlgorithmName, periodSeconds = 10, limit = 100) {
  return limiterOf({
    name,
    limit,
    burst: undefined,
    chargeDenied: undefined,
    periodSeconds,
  });
}

function readUsed(rule: StateLimiter, value: string, nowSeconds: number): number | undefined {
  const state = rule.kind.decode(rule, value, tickAt(nowSeconds, rule.tickMicros));
  return state && usedHits(rule, state);
}

function writeUsed(rule: StateLimiter, hits: number, nowSeconds: number) {
  const tick = tickAt(nowSeconds, rule.tickMicros);
  const state = rule.kind.ofHits(rule, hits, tick);
  return { value: rule.kind.encode(rule, state, tick), lifetimeMs: lifetimeMs(rule, state) };
}

const everyKind: readonly Kind[] = KINDS;
const nameOf = ({ words, letter }: Kind) => `${words.name} (${letter})`;

it.each(everyKind.map((kind) => [nameOf(kind), kind] as const))(
  'reads what it wrote as any kind of the table: %s',
  (_, kind) => {
    const limiter = compileLimiter(kind, { limit: 10, periodSeconds: 10 });
    const tick = tickAt(NOW, limiter.tickMicros);
    for (const hits of [0, 1, 7, 10, 25]) {
      const stored = kind.decode(
        limiter,
        kind.encode(limiter, kind.ofHits(limiter, hits, tick), tick),
        tick,
      );
      expect(stored).toEqual(kind.ofHits(limiter, hits, tick));
    }
  },
);

it.each(everyKind.filter(({ isRecord }) => !isRecord).map((kind) => [nameOf(kind), kind]))(
  'lets no time pass in a window, whose key says when it ends: %s',
  (_, kind) => {
    const limiter = compileLimiter(kind, { limit: 10, periodSeconds: 10 });
    const reading = kind.ofHits(limiter, 7, NOW);
    expect(kind.advance(limiter, reading, 9)).toEqual(reading);
  },
);

it('knows all hits that were asked where each is charged, and there alone', () => {
  const asked = everyKind.map((kind) => {
    const limiter = compileLimiter(kind, { limit: 10, periodSeconds: 10 });
    return [nameOf(kind), kind.hitsCharged(kind.ofHits(limiter, 25, NOW))];
  });
  expect(asked).toEqual([
    ['fixed_window (p)', 25],
    ['fixed_window (f)', undefined],
    ['gcra (g)', undefined],
    ['sliding_window (l)', undefined],
    ['sliding_window (s)', undefined],
  ]);
});

it.each(['gcra', 'sliding_window'] as const)('reads under %s what was written', (name) => {
  for (const hits of [0, 1, 7, 10, 25]) {
    const { value, lifetimeMs } = writeUsed(algorithm(name), hits, NOW);
    expect(readUsed(algorithm(name), value, NOW)).toBe(hits);
    expect(lifetimeMs).toBeGreaterThanOrEqual(1_000);
  }
});

it('writes what the scripts of Redis read: units and tick, or window and hits', () => {
  const gcra = algorithm('gcra');
  expect(writeUsed(gcra, 3, NOW).value).toBe(
    `${String(3 * gcra.periodTicks)} ${String(NOW * (1_000_000 / gcra.tickMicros))}`,
  );
  expect(writeUsed(algorithm('sliding_window'), 3, NOW).value).toBe('179524020 0 3');
});

it('drains a bucket and fades a window as time passes', () => {
  const { value } = writeUsed(algorithm('gcra'), 10, NOW);
  expect(readUsed(algorithm('gcra'), value, NOW + 0.45)).toBe(6);
  expect(readUsed(algorithm('gcra'), value, NOW + 60)).toBe(0);
  const { value: window } = writeUsed(algorithm('sliding_window'), 10, NOW);
  expect(readUsed(algorithm('sliding_window'), window, NOW + 10)).toBe(4);
  const { value: log } = writeUsed(algorithm('sliding_window', 10, 10), 10, NOW);
  expect(
    [9.999, 10].map((at) => readUsed(algorithm('sliding_window', 10, 10), log, NOW + at)),
  ).toEqual([10, 0]);
});

it.each(['', '7', 'abc', '1 2 3 4', '-1 5', '1.5 2'])(
  'knows that %j is no such counter',
  (value) => {
    expect(readUsed(algorithm('gcra'), value, NOW)).toBeUndefined();
    expect(readUsed(algorithm('sliding_window'), value, NOW)).toBeUndefined();
  },
);
