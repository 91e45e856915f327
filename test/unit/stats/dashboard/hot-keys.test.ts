import type { CounterReply, Increment } from '../../../../src/core/ports';
import { HotKeys } from '../../../../src/stats/dashboard/hot-keys';
import { SOME_MATCH } from '../../../support/rules';
import { plain } from '../../../support/limiters';

const NOW = 1_000_030;

function increment(name: string, hits: number | bigint, rest: Partial<Increment> = {}): Increment {
  const windowEndSeconds = rest.windowEndSeconds ?? 1_000_080;
  return {
    key: `p:${name}${String(windowEndSeconds - 60)}`,
    hits,
    ...plain(rest.limit ?? 100),
    ttlSeconds: 60,
    windowEndSeconds,
    ...SOME_MATCH,
    rule: { ...SOME_MATCH.rule, unit: 'MINUTE', periodSeconds: 60 },
    ...rest,
  };
}

const PATH = { domain: 'd', entries: undefined, rule: undefined };
const create = (random: () => number) => new HotKeys({ random, pathOf: () => PATH }, 'p:');

function record(
  keys: HotKeys,
  increments: readonly Increment[],
  reply: Partial<CounterReply> = {},
): void {
  const after = increments.map(({ hits }) => Number(hits));
  const batch = { increments, groupEnds: undefined, nowSeconds: NOW };
  keys.record(batch, { after, held: undefined, failures: undefined, ...reply });
}

describe('the hottest keys', () => {
  it('says how often a counter is hit, where it stands and what it may reach', () => {
    const keys = create(() => 0);
    record(keys, [increment('shop_user_ann_', 30), increment('shop_user_bob_', 6)], {
      after: [130, 6],
    });
    keys.advance(2);
    const limit = { path: PATH, limit: 100, per: 'minute', windowEndSeconds: 1_000_080 };
    expect(keys.top(5, NOW)).toEqual([
      { name: 'shop_user_ann_', perSecond: 15, value: 130, isOver: true, ...limit },
      { name: 'shop_user_bob_', perSecond: 3, value: 6, isOver: false, ...limit },
    ]);
    expect(keys.top(1, NOW)).toHaveLength(1);
    expect(keys.errorPerSecond).toBe(0);
  });

  it('says whether the last answer came from a lease', () => {
    const keys = create(() => 0);
    const some = [increment('a_', 3), increment('b_', 2), increment('c_', 1)];
    record(keys, some, { leased: [false, true, true] });
    record(keys, [increment('c_', 1)]);
    keys.advance(1);
    const shown = keys.top(3, NOW).map(({ isLeased }) => isLeased);
    expect(shown).toEqual([false, true, undefined]);
  });

  it('shows a steady rate as it is from the first second on, and forgets what ended', () => {
    const keys = create(() => 0);
    const rates = Array.from({ length: 8 }, () => {
      record(keys, [increment('a_', 50)]);
      keys.advance(1);
      const [first] = keys.top(1, NOW);
      keys.decay(1);
      return first?.perSecond ?? 0;
    });
    for (const rate of rates) expect(rate).toBeCloseTo(50);
    for (let i = 0; i < 10; i++) {
      keys.advance(1);
      keys.decay(1);
    }
    expect(keys.top(1, NOW)[0]?.perSecond).toBeLessThan(0.5);
    keys.clear();
    expect([keys.top(1, NOW), keys.errorPerSecond]).toEqual([[], 0]);
  });

  it('joins the windows of one counter, shows the later value, and drops windows that are over', () => {
    const keys = create(() => 0);
    const before = { windowEndSeconds: NOW - 1 };
    record(keys, [
      increment('a_', 99, before),
      increment('old_', 5, { windowEndSeconds: NOW - 2 }),
    ]);
    record(keys, [increment('a_', 1)]);
    keys.advance(1);
    expect(keys.top(9, NOW)).toEqual([
      expect.objectContaining({ name: 'a_', perSecond: 100, value: 1, isOver: false }),
    ]);
  });

  it.each([
    ['the later window, which came last', [NOW + 10, NOW + 70], 2],
    ['the later window, which came first', [NOW + 70, NOW + 10], 1],
    ['of two that end together the one that came last', [NOW + 70, NOW + 70], 2],
  ])('shows the value of %s', (_, ends, value) => {
    const keys = create(() => 0);
    for (const [at, windowEndSeconds] of ends.entries())
      record(keys, [increment('a_', 1, { key: `p:a_${String(at)}`, windowEndSeconds })], {
        after: [at + 1],
      });
    keys.advance(1);
    expect(keys.top(9, NOW)).toEqual([
      expect.objectContaining({ name: 'a_', perSecond: 2, value }),
    ]);
  });

  it('gives no weight to hits given back, to looks and to what failed, but follows the value', () => {
    const keys = create(() => 0);
    record(keys, [increment('a_', 5), increment('b_', 0), increment('c_', 9)], {
      failures: new Map([[2, new Error('away') as never]]),
    });
    record(keys, [increment('a_', -2), increment('big_', 5n)], { after: [3, 5] });
    keys.advance(1);
    expect(keys.top(9, NOW).map(({ name, perSecond, value }) => [name, perSecond, value])).toEqual([
      ['a_', 5, 3],
      ['big_', 5, 5],
    ]);
  });

  it('keeps the last value where the local cache knew that a counter is over', () => {
    const keys = create(() => 0);
    record(keys, [increment('a_', 1), increment('b_', 1)], {
      after: [101, 0],
      knownOverLimit: [false, true],
    });
    record(keys, [increment('a_', 1)], { after: [0], knownOverLimit: [true] });
    keys.advance(1);
    expect(keys.top(9, NOW)).toEqual([
      expect.objectContaining({ name: 'a_', value: 101, isOver: true }),
      expect.objectContaining({ name: 'b_', value: undefined, isOver: true }),
    ]);
  });

  it('looks at a share of a flood, and weighs it so that rates stay right', () => {
    let at = 0;
    const keys = create(() => ((at += 1) * 0.618_033_988) % 1);
    const rates: number[] = [];
    for (let second = 0; second < 8; second++) {
      for (let batch = 0; batch < 1_000; batch++) {
        const rare = Array.from({ length: 98 }, (_, i) => `rare-${String(batch * 98 + i)}_`);
        record(
          keys,
          [...rare, 'hot_', 'hot_'].map((name) => increment(name, 1)),
        );
      }
      keys.advance(1);
      rates.push(keys.top(1, NOW)[0]?.perSecond ?? 0);
      const { errorPerSecond } = keys;
      expect(errorPerSecond).toBeLessThan((2 * 120_000) / 512);
      keys.decay(1);
    }
    // 2,000 hits a second of 100,000; the error of the sketch and of the share together.
    for (const rate of rates.slice(1)) {
      expect(rate).toBeGreaterThan(1_200);
      expect(rate).toBeLessThan(2_500);
    }
  });

  it('leaves out keys that are longer than anybody reads', () => {
    const keys = create(() => 0);
    record(keys, [increment(`${'x'.repeat(3_000)}_`, 5)]);
    keys.advance(1);
    expect(keys.top(9, NOW)).toEqual([]);
  });
});
