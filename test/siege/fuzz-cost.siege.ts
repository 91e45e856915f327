import { readCoreMs } from '../support/edge/core-time';
import { FUZZ_OCTETS, FUZZ_RUN, fuzzBytes } from '../fuzz/fuzz';
import { createTargets } from '../fuzz/targets';
import { createCosts, createJudgeCost, judgeCost } from '../long-fuzz/cost';

/** Works for so long, however long others have the core meanwhile. */
function work(ms: number): void {
  const until = readCoreMs() + ms;
  while (readCoreMs() < until);
}

describe('the judge of costs', () => {
  const known = () => {
    const costs = createCosts();
    for (let i = 0; i < 200; i++) judgeCost(costs, 1_000, () => undefined);
    return costs;
  };

  it('finds an input that costs far more for each byte than others, each time', () => {
    expect(() => {
      judgeCost(known(), 1_000, () => {
        work(120);
      });
    }).toThrow(/1000 bytes take \d+ ms each time/);
  });

  it('lets pass what was slow once', () => {
    let isFirst = true;
    judgeCost(known(), 1_000, () => {
      if (isFirst) work(120);
      isFirst = false;
    });
  });

  it('lets pass what is slow as others are', () => {
    const costs = createCosts();
    for (let i = 0; i < 200; i++) costs.perByte[costs.seen++] = 0.01;
    judgeCost(costs, 1_000, () => {
      work(120);
    });
  });
});

/** The run of `npm test` once more, beside a clock. */
it.each(createTargets().map(({ target, share }) => [target.name, target, share] as const))(
  'no input of %s costs far more for each byte than others',
  (_name, target, share) => {
    const { executions } = fuzzBytes(target, FUZZ_RUN, FUZZ_OCTETS * share, createJudgeCost());
    expect(executions).toBeGreaterThan(100);
  },
  120_000,
);
