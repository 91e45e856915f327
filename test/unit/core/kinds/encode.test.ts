import { gateOf, type StateGate } from '../../../support/gates';
import { type AlgorithmName } from '../../../../src/core/kinds/kinds';
import { lifetimeMs, usedHits } from '../../../../src/core/kinds/gate';
import { tickAt } from '../../../../src/core/kinds/ticks';

const NOW = 1_795_240_205;

function algorithm(name: AlgorithmName, periodSeconds = 10) {
  return gateOf({
    name,
    limit: 10,
    burst: undefined,
    chargeDenied: undefined,
    periodSeconds,
  });
}

function readUsed(rule: StateGate, value: string, nowSeconds: number): number | undefined {
  const state = rule.kind.decode(rule, value, tickAt(nowSeconds, rule.tickMicros));
  return state && usedHits(rule, state);
}

function writeUsed(rule: StateGate, hits: number, nowSeconds: number) {
  const tick = tickAt(nowSeconds, rule.tickMicros);
  const state = rule.kind.ofHits(rule, hits, tick);
  return { value: rule.kind.encode(rule, state, tick), lifetimeMs: lifetimeMs(rule, state) };
}

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
  expect(readUsed(algorithm('gcra'), value, NOW + 4.5)).toBe(6);
  expect(readUsed(algorithm('gcra'), value, NOW + 60)).toBe(0);
  const { value: window } = writeUsed(algorithm('sliding_window'), 10, NOW);
  expect(readUsed(algorithm('sliding_window'), window, NOW + 10)).toBe(5);
});

it.each(['', '7', 'abc', '1 2 3 4', '-1 5', '1.5 2'])(
  'knows that %j is no such counter',
  (value) => {
    expect(readUsed(algorithm('gcra'), value, NOW)).toBeUndefined();
    expect(readUsed(algorithm('sliding_window'), value, NOW)).toBeUndefined();
  },
);
