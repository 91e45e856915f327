import { limiterOf, READ_FIRST_NAMES, type StateLimiter, nameOf } from '../../../support/limiters';
import fc from 'fast-check';
import { tickAt } from '../../../../src/core/kinds/ticks';
import { outcomeOf } from '../../../../src/core/kinds/whole';
import { countAdmitted } from '../../../../src/core/kinds/whole';
import { type Charges } from '../../../../src/core/kinds/kind';
import { type CounterState } from '../../../../src/core/kinds/kind';
import { MOVES, play, rules } from '../../../support/algorithm-arbitraries';
import { AlgorithmCounter } from '../../../support/algorithm-counter';

const START = 1_700_000_040;
const startOf = ({ tickMicros }: StateLimiter) => tickAt(START, tickMicros);
const debts = fc.boolean();

/** b + floor(L·w / P), to the last digit. */
const promiseOf = ({ size, limit, periodTicks }: StateLimiter, ticks: number) =>
  BigInt(size) + (BigInt(limit) * BigInt(ticks)) / BigInt(periodTicks);

/** Hits admitted by the asks of one batch. */
const admit = (
  counter: AlgorithmCounter,
  rule: StateLimiter,
  tick: number,
  charges: Charges,
): number => countAdmitted(rule, counter.apply(rule, tick, charges), charges) * charges.hits;

describe('a gcra counter', () => {
  it('admits exactly the burst and what the period brings under endless demand', () => {
    const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 30 });
    fc.assert(
      fc.property(rules('gcra'), shares, (rule, pauses) => {
        const counter = new AlgorithmCounter();
        const all = { hits: 1, times: Number.MAX_SAFE_INTEGER };
        const start = startOf(rule);
        let tick = start;
        let admitted = BigInt(admit(counter, rule, tick, all));
        for (const pause of pauses) {
          // Demand never ends: the bucket is not left alone for longer than it takes to fill.
          tick += Math.floor((pause * counter.stateAt(rule, tick).used) / rule.limit);
          admitted += BigInt(admit(counter, rule, tick, all));
          expect(admitted).toBe(promiseOf(rule, tick - start));
        }
      }),
    );
  });

  it('never admits more than its promise, in any interval', () => {
    fc.assert(
      fc.property(rules('gcra'), MOVES, (rule, moves) => {
        const counter = new AlgorithmCounter();
        const taken = play(
          rule,
          moves.filter(({ pause, share }) => pause >= 0 && share > 0),
          startOf(rule),
        ).map((move) => ({ tick: move.tick, hits: admit(counter, rule, move.tick, move) }));
        taken.forEach((from, first) => {
          let sum = 0n;
          for (const to of taken.slice(first)) {
            sum += BigInt(to.hits);
            expect(sum <= promiseOf(rule, to.tick - from.tick)).toBe(true);
          }
        });
      }),
    );
  });

  it('admits no more while its clock goes back than if it stood still', () => {
    fc.assert(
      fc.property(rules('gcra'), MOVES, (rule, moves) => {
        const counter = new AlgorithmCounter();
        // A look writes nothing: the counter begins with the first hits, which may be before its clock's first time.
        const asks = play(rule, moves, startOf(rule)).filter(({ hits }) => hits > 0);
        const ticks = asks.map(({ tick }) => tick);
        let sum = 0n;
        for (const ask of asks) sum += BigInt(admit(counter, rule, ask.tick, ask));
        expect(sum <= promiseOf(rule, Math.max(0, ...ticks) - (ticks[0] ?? 0))).toBe(true);
      }),
    );
  });
});

describe('a sliding window counter', () => {
  it('never admits more than the limit in an aligned window', () => {
    fc.assert(
      fc.property(rules('sliding_window'), MOVES, (rule, moves) => {
        const counter = new AlgorithmCounter();
        const admitted = new Map<number, number>();
        for (const move of play(rule, moves, startOf(rule))) {
          if (move.hits <= 0) continue;
          const taken = admit(counter, rule, move.tick, move);
          // A window that the clock has gone back from goes on being the current one.
          const window = Math.floor(
            (move.tick - counter.stateAt(rule, move.tick).elapsed) / rule.periodTicks,
          );
          admitted.set(window, (admitted.get(window) ?? 0) + taken);
        }
        expect(Math.max(0, ...admitted.values())).toBeLessThanOrEqual(rule.limit);
      }),
    );
  });
});

describe('a sliding window of a small limit', () => {
  const small = fc
    .record({
      limit: fc.integer({ min: 1, max: 64 }),
      periodSeconds: fc.constantFrom(1, 60, 3_600, 86_400, 31_536_000),
    })
    .map((said) =>
      limiterOf({ name: 'sliding_window', burst: undefined, chargeDenied: false, ...said }),
    );

  it('never admits more than the limit in any period', () => {
    fc.assert(
      fc.property(small, MOVES, (rule, moves) => {
        const counter = new AlgorithmCounter();
        const taken: number[] = [];
        for (const move of play(rule, moves, startOf(rule))) {
          if (move.hits <= 0) continue;
          const admitted = admit(counter, rule, Math.max(move.tick, taken.at(-1) ?? 0), move);
          for (let hit = 0; hit < admitted; hit += 1)
            taken.push(Math.max(move.tick, taken.at(-1) ?? 0));
        }
        for (const [at, tick] of taken.entries())
          expect(tick - (taken[at - rule.limit] ?? -Infinity)).toBeGreaterThanOrEqual(
            rule.periodTicks,
          );
      }),
    );
  });

  it('refuses nothing to a client that leaves a period between each hit and the one as many hits later', () => {
    const pauses = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 200 });
    fc.assert(
      fc.property(small, pauses, (rule, shares) => {
        const counter = new AlgorithmCounter();
        const taken: number[] = [];
        let tick = startOf(rule);
        for (const share of shares) {
          const earliest = (taken.at(-rule.limit) ?? -Infinity) + rule.periodTicks;
          tick = Math.max(tick + Math.floor((share * rule.periodTicks) / rule.limit), earliest);
          expect(counter.ask(rule, tick, 1).isOver).toBe(false);
          taken.push(tick);
        }
      }),
    );
  });
});

it.each([65, 100, 1_000, 100_000])(
  'refuses at most 1 % of a steady client under a sliding window of %d',
  (limit) => {
    const rule = limiterOf({
      ...{ name: 'sliding_window', limit, burst: undefined, chargeDenied: false },
      periodSeconds: 3_600,
    });
    for (const pace of [1, 1.02]) {
      const counter = new AlgorithmCounter();
      let refused = 0;
      const hits = 5 * limit;
      for (let hit = 0; hit < hits; hit += 1) {
        const tick = startOf(rule) + Math.ceil((hit * pace * rule.periodTicks) / limit);
        if (counter.ask(rule, tick, 1).isOver) refused += 1;
      }
      expect(refused / hits).toBeLessThanOrEqual(0.01);
    }
  },
);

describe.each(READ_FIRST_NAMES)('a %s counter', (name) => {
  it('is left as it was by looks', () => {
    fc.assert(
      fc.property(rules(name, debts), MOVES, (rule, moves) => {
        const [looked, left] = [new AlgorithmCounter(), new AlgorithmCounter()];
        for (const { tick, hits } of play(rule, moves, startOf(rule))) {
          looked.ask(rule, tick, 0);
          expect(looked.ask(rule, tick, hits)).toEqual(left.ask(rule, tick, hits));
          expect(looked.stored).toEqual(left.stored);
        }
      }),
    );
  });

  it('is left as it was by hits that are given back at once', () => {
    fc.assert(
      fc.property(rules(name), MOVES, (rule, moves) => {
        const counter = new AlgorithmCounter();
        for (const { tick, hits } of play(rule, moves, startOf(rule))) {
          const before = counter.stateAt(rule, tick);
          if (!counter.ask(rule, tick, hits).isOver && hits > 0) {
            counter.ask(rule, tick, -hits);
            expect(counter.stateAt(rule, tick)).toEqual(before);
          }
          counter.ask(rule, tick, hits);
        }
      }),
    );
  });

  it('answers equal asks the same in one batch and one after the other', () => {
    fc.assert(
      fc.property(rules(name, debts), MOVES, (rule, moves) => {
        const [joined, split] = [new AlgorithmCounter(), new AlgorithmCounter()];
        for (const { tick, ...asks } of play(rule, moves, startOf(rule))) {
          const state = joined.apply(rule, tick, asks);
          for (let number = 1; number <= asks.times; number += 1) {
            const alone = split.ask(rule, tick, asks.hits);
            expect(outcomeOf(rule, state, asks, number)).toEqual(alone);
          }
          expect(joined.stored).toEqual(split.stored);
        }
      }),
    );
  });
});

describe.each(['gcra', 'sliding_window'] as const)('a refusal by %s', (name) => {
  it('names a wait after which the same hits are admitted', () => {
    fc.assert(
      fc.property(rules(name), MOVES, (rule, moves) => {
        const counter = new AlgorithmCounter();
        for (const { tick, hits } of play(rule, moves, startOf(rule))) {
          const { isOver, resetSeconds } = counter.ask(rule, tick, hits);
          if (!isOver || hits <= 0 || hits > rule.size) continue;
          const later = tick + (resetSeconds * 1_000_000) / rule.tickMicros;
          const state = counter.stateAt(rule, later);
          expect(countAdmitted(rule, state, { hits, times: 1 })).toBe(1);
        }
      }),
    );
  });
});

/** What is free, in integers of any size. */
const exactFree = (rule: StateLimiter, { used, previous, elapsed }: CounterState): bigint => {
  const [period, held] = [BigInt(rule.periodTicks), BigInt(used)];
  const capacity = BigInt(rule.size) * period;
  if (nameOf(rule) === 'gcra') return capacity - held;
  const fading = BigInt(previous) * (period - BigInt(elapsed)) - period;
  return capacity - (fading > 0n ? fading : 0n) - held * period;
};

/** Seconds until so many units of a gcra counter are free, in integers of any size. */
const exactWait = ({ limit, tickMicros }: StateLimiter, missing: bigint): bigint => {
  const ticks = (missing + BigInt(limit) - 1n) / BigInt(limit);
  const perSecond = BigInt(1_000_000 / tickMicros);
  const seconds = (ticks + perSecond - 1n) / perSecond;
  const longest = 315_576_000_000n;
  return seconds > longest ? longest : seconds;
};

describe('the arithmetic', () => {
  const shares = fc.double({ min: 0, max: 2, noNaN: true });
  const some = fc.tuple(shares, shares, shares);

  it('of gcra is the same as with integers of any size', () => {
    fc.assert(
      fc.property(rules('gcra'), shares, MOVES, (rule, share, moves) => {
        const used = Math.floor(share * rule.size) * rule.periodTicks + 7;
        const state = { used, previous: 0, elapsed: 0 };
        const free = exactFree(rule, state);
        for (const { hits } of play(rule, moves, 0)) {
          if (hits <= 0) continue;
          const cost = BigInt(hits) * BigInt(rule.periodTicks);
          const found = outcomeOf(rule, state, { hits, times: 1 }, 1);
          expect(found.isOver).toBe(cost > free);
          if (found.isOver && hits <= rule.size)
            expect(BigInt(found.resetSeconds)).toBe(exactWait(rule, cost - free));
          if (!found.isOver)
            expect(BigInt(found.remaining)).toBe((free - cost) / BigInt(rule.periodTicks));
        }
      }),
      { numRuns: 300 },
    );
  });

  it('of sliding_window is the same as with integers of any size', () => {
    fc.assert(
      fc.property(rules('sliding_window', debts), some, MOVES, (rule, [a, b, c], moves) => {
        const [used, previous] = [Math.floor(a * rule.size), Math.floor(b * rule.size)];
        const elapsed = Math.floor((c / 2) * (rule.periodTicks - 1));
        const isLog = rule.kind.lua?.isLog === true;
        const state = isLog ? rule.kind.ofHits(rule, used, 0) : { used, previous, elapsed };
        const free = exactFree(rule, state);
        for (const { hits } of play(rule, moves, 0)) {
          if (hits <= 0) continue;
          const cost = BigInt(hits) * BigInt(rule.periodTicks);
          const found = outcomeOf(rule, state, { hits, times: 1 }, 1);
          expect(found.isOver).toBe(cost > free);
          if (!found.isOver)
            expect(BigInt(found.remaining)).toBe((free - cost) / BigInt(rule.periodTicks));
        }
      }),
      { numRuns: 300 },
    );
  });
});
