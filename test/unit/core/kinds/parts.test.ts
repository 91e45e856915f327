import { compileLimiter } from '../../../../src/core/kinds/limiter';
import type { Operation, Kind, Reading } from '../../../../src/core/kinds/kind';
import { KINDS } from '../../../../src/core/kinds/kinds';
import { budgetKind } from '../../../../src/core/budgets/budget-kind';
import { limiterOfLimits } from '../../../support/budget-limiters';

/** Hits of one counter that came by several descriptors and were joined to one ask. */

const TICK_SECONDS = 1_795_240_205;
const everyKind: readonly Kind[] = KINDS;
const looking = everyKind.filter(({ readsFirst }) => readsFirst);
const list = limiterOfLimits([
  { unit: 'MINUTE', requestsPerUnit: 10, block: { after: 1, forMs: 30_000 } },
]);

const cases = [
  ...looking.map((kind) => {
    const limiter = compileLimiter(kind, { limit: 10, periodSeconds: 10 });
    const tick = (TICK_SECONDS * 1_000_000) / limiter.tickMicros;
    return [`${kind.words.name} (${kind.letter})`, limiter, kind.ofHits(limiter, 4, tick)] as const;
  }),
  ['a list', list, budgetKind.ofHits(list, 4, TICK_SECONDS * 1_000)] as const,
];

/** The outcomes of descriptors with so many hits each, of one ask. */
function outcomesOf(limiter: (typeof cases)[number][1], state: Reading, parts: readonly number[]) {
  const hits = parts.reduce((sum, part) => sum + part, 0);
  const operation = {
    limiter,
    hits,
    times: 1,
    windowEndSeconds: TICK_SECONDS,
  } as unknown as Operation;
  let later = hits;
  return parts.map((part) => {
    later -= part;
    return (limiter.kind as Kind).outcome(operation, state, part, later, TICK_SECONDS);
  });
}

it.each(cases)('are admitted together where all of them fit: %s', (_, limiter, state) => {
  const told = outcomesOf(limiter, state, [2, 3, 1]).map(({ isOver, over }) => [isOver, over]);
  expect(told).toEqual(new Array(3).fill([false, 0]));
  expect(outcomesOf(limiter, state, [2, 3, 1]).at(-1)?.remaining).toBe(0);
});

it.each(cases)('are refused together where they do not fit: %s', (_, limiter, state) => {
  const told = outcomesOf(limiter, state, [2, 3, 2]).map(({ isOver, over }) => [isOver, over]);
  expect(told).toEqual([2, 3, 2].map((part) => [true, part]));
});

it('count a block that they begin once', () => {
  const told = outcomesOf(list, budgetKind.ofHits(list, 4, TICK_SECONDS * 1_000), [2, 3, 2]);
  const begun = told.map((one) => (one as { readonly blocksBegun?: number }).blocksBegun);
  expect(begun).toEqual([1, 0, 0]);
});
