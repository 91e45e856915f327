import { ByteBudget, type ByteHolder } from '../../../src/platform/byte-budget';

interface TestHolder extends ByteHolder {
  ended: number;
}

function holder(): TestHolder {
  return {
    heldBytes: 0,
    ended: 0,
    end() {
      this.ended += 1;
    },
  };
}

it('adds up what all connections hold', () => {
  const budget = new ByteBudget(100);
  const [a, b] = [holder(), holder()];
  budget.report(a, 30);
  budget.report(b, 40);
  budget.report(a, 10);
  expect(budget.heldBytes).toBe(50);
  budget.report(b, 0);
  expect(budget.heldBytes).toBe(10);
});

it('ends the connection that holds most, not the one that spent the last byte', () => {
  const budget = new ByteBudget(100);
  const [large, small] = [holder(), holder()];
  budget.report(large, 90);
  budget.report(small, 20);
  expect([large.ended, small.ended]).toEqual([1, 0]);
  expect(budget.heldBytes).toBe(20);
});

it('refuses new work from the moment it is spent until a quarter is free', () => {
  const budget = new ByteBudget(100);
  const all = Array.from({ length: 10 }, holder);
  for (const each of all) budget.report(each, 10);
  expect(budget.isSpent).toBe(false);
  budget.report(all[0] as TestHolder, 15);
  expect([budget.isSpent, budget.heldBytes]).toEqual([true, 90]);
  budget.report(all[1] as TestHolder, 0);
  expect(budget.isSpent).toBe(true);
  budget.report(all[2] as TestHolder, 0);
  expect(budget.isSpent).toBe(false);
});

it('forgets an ended connection, whose last report changes nothing', () => {
  const budget = new ByteBudget(100);
  const one = holder();
  budget.report(one, 101);
  budget.report(one, 0);
  expect([budget.heldBytes, one.ended, budget.isSpent]).toEqual([0, 1, false]);
});

it('tells of every connection that it ends, also of one that is ended for itself', () => {
  let told = 0;
  const budget = new ByteBudget(100, () => (told += 1));
  const [large, small] = [holder(), holder()];
  budget.report(large, 101);
  budget.report(small, 10);
  budget.end(small);
  expect([large.ended, small.ended, told, budget.heldBytes]).toEqual([1, 1, 2, 0]);
});
