import { underBudget } from '../../../../src/core/budgets/stored';
import {
  blockFor,
  gateOfLimits,
  momentAfter,
  standing,
  START,
} from '../../../support/budget-gates';

const second = { unit: 'SECOND', requestsPerUnit: 3 } as const;
const minute = { unit: 'MINUTE', requestsPerUnit: 10 } as const;
const block = { after: 1, forMs: 30_000 };

describe('a counter under limits that changed', () => {
  const before = gateOfLimits([{ ...second, block }, minute], { block }).budget;
  const blocks = [blockFor(10), blockFor(20)];
  const state = standing(before, [2, 7], { blocks, held: 3, open: 1 });
  const under = (now: ReturnType<typeof gateOfLimits>) =>
    underBudget(now.budget, { budget: before, state, strays: [] }, momentAfter(5));

  it('keeps what was used by the period of its limits, with what is held', () => {
    const after = under(gateOfLimits([{ ...minute, requestsPerUnit: 20 }, second]));
    expect(after).toEqual({ ...state, entries: [state.entries[1], state.entries[0]], blocks: [] });
  });

  it('keeps a block by whose refusals it counts', () => {
    expect(under(gateOfLimits([second, minute], { block })).blocks).toEqual([blocks[1]]);
    expect(under(gateOfLimits([{ ...second, block }, minute])).blocks).toEqual([blocks[0]]);
  });

  it('begins new limits where the process stands now', () => {
    const hour = { unit: 'HOUR', requestsPerUnit: 10 } as const;
    const [entry] = under(gateOfLimits([hour])).entries;
    expect(entry).toEqual({ used: 0, previous: 0, elapsed: 0, endSeconds: START + 3_600 });
  });
});
