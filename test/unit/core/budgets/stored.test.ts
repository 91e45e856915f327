import { straysUnder, underBudget, type StoredBudget } from '../../../../src/core/budgets/stored';
import {
  blockFor,
  limiterOfLimits,
  momentAfter,
  standing,
  START,
} from '../../../support/budget-limiters';
import { inFlight } from '../../../support/budgets';

const second = { unit: 'SECOND', requestsPerUnit: 3 } as const;
const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const block = { after: 1, forMs: 30_000 };

describe('a counter under limits that changed', () => {
  const before = limiterOfLimits([{ ...second, block }, minute], { block }).budget;
  const blocks = [blockFor(10), blockFor(20)];
  const state = standing(before, [2, 7], { blocks, held: 3, open: 1 });
  const under = (now: ReturnType<typeof limiterOfLimits>) =>
    underBudget(now.budget, { budget: before, state, strays: [] }, momentAfter(5));

  it('keeps what was used by the period of its limits, with what is held', () => {
    const after = under(limiterOfLimits([{ ...minute, requestsPerUnit: 20 }, second]));
    expect(after).toEqual({ ...state, entries: [state.entries[1], state.entries[0]], blocks: [] });
  });

  it('keeps a block by whose refusals it counts', () => {
    expect(under(limiterOfLimits([second, minute], { block })).blocks).toEqual([blocks[1]]);
    expect(under(limiterOfLimits([{ ...second, block }, minute])).blocks).toEqual([blocks[0]]);
  });

  it('begins new limits where the process stands now', () => {
    const hour = { unit: 'HOUR', requestsPerUnit: 10 } as const;
    const [entry] = under(limiterOfLimits([hour])).entries;
    expect(entry).toEqual({ used: 0, previous: 0, elapsed: 0, endSeconds: START + 3_600 });
  });
});

describe('what another rule counts under a key', () => {
  const bucket = { unit: 'MINUTE', requestsPerUnit: 60, algorithm: 'gcra' } as const;
  const hour = { unit: 'HOUR', requestsPerUnit: 10 } as const;
  const before = limiterOfLimits([{ ...second, block }, bucket, hour, inFlight(2)], {
    block,
  }).budget;
  const blocks = [blockFor(20), blockFor(40)];
  const kept: StoredBudget = {
    budget: before,
    state: standing(before, [2, 7, 0], { blocks, open: 1 }),
    strays: [],
  };
  const nowMs = START * 1_000;
  const names = (now: ReturnType<typeof limiterOfLimits>, stored = kept, at = nowMs) =>
    straysUnder(now.budget, stored, at).map(({ name }) => name);

  it('is kept by its name while it is in use, what ends last first, slots and empty limits not', () => {
    expect(names(limiterOfLimits([minute]))).toEqual(['b', 'b:f1', 'g60', 'f1']);
    expect(names(limiterOfLimits([bucket], { block }))).toEqual(['b:f1', 'f1']);
  });

  it('is gone at its end', () => {
    const at = (seconds: number) => names(limiterOfLimits([minute]), kept, nowMs + seconds * 1_000);
    expect(at(1)).toEqual(['b', 'b:f1', 'g60']);
    expect(at(7)).toEqual(['b', 'b:f1']);
    expect(at(80)).toEqual([]);
  });

  it('is the same under a rule of the same limits', () => {
    const strays = straysUnder(limiterOfLimits([minute]).budget, kept, nowMs);
    const under = { budget: before, state: kept.state, strays };
    const same = limiterOfLimits([{ ...second, block }, bucket, hour, inFlight(5)], { block });
    expect(straysUnder(same.budget, under, nowMs)).toBe(strays);
    expect(underBudget(same.budget, under, momentAfter(0))).toBe(kept.state);
  });

  it('is no more than sixteen parts', () => {
    const many = Array.from({ length: 20 }, (_, at) => ({ ...minute, unitMultiplier: at + 1 }));
    const { budget } = limiterOfLimits(many);
    const state = standing(budget, new Array<number>(20).fill(1));
    const found = names(limiterOfLimits([second]), { budget, state, strays: [] });
    expect(found).toHaveLength(16);
    // Its window is the first to end.
    expect(found).not.toContain('f60');
  });

  it('comes back where its limit does, as it stands by then', () => {
    const now = limiterOfLimits([minute]);
    const moment = momentAfter(3);
    const between = {
      budget: now.budget,
      state: { ...standing(now.budget, [1]), atMicros: moment.micros },
      strays: straysUnder(now.budget, kept, nowMs),
    };
    const back = limiterOfLimits([bucket, hour], { block });
    const { entries, blocks: found } = underBudget(back.budget, between, moment);
    expect(
      entries.map((one, at) => [one.used / (back.budget.entries[at]?.limiter.periodTicks ?? 1)]),
    ).toEqual([[4], [0]]);
    expect(found).toEqual([blockFor(40)]);
  });
});
