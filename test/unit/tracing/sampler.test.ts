import fc from 'fast-check';
import { createSampler } from '../../../src/tracing/create-tracer';

/** A small generator with a seed, for the same draw in every run. */
function seeded(seed: number) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('createSampler', () => {
  it.each([0.001, 0.01, 0.3, 0.99])('chooses a share of %d', (rate) => {
    const isChosen = createSampler(rate, seeded(42));
    const asked = 200_000;
    let chosen = 0;
    for (let i = 0; i < asked; i++) if (isChosen()) chosen += 1;
    // Four standard deviations of a binomial distribution.
    expect(Math.abs(chosen - asked * rate)).toBeLessThan(4 * Math.sqrt(asked * rate * (1 - rate)));
  });

  it('is as likely to choose right after it chose as at any other time', () => {
    const isChosen = createSampler(0.2, seeded(7));
    const draws = Array.from({ length: 200_000 }, isChosen);
    const after = draws.filter((_, i) => i > 0 && draws[i - 1] === true);
    const chosen = after.filter(Boolean).length / after.length;
    expect(Math.abs(chosen - 0.2)).toBeLessThan(0.01);
  });

  it('chooses all or none where that is asked for, whatever chance says', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (value) => {
        const [all, none] = [1, 0].map((rate) => createSampler(rate, () => value));
        for (let i = 0; i < 10; i++) expect([all?.(), none?.()]).toEqual([true, false]);
      }),
    );
  });
});
