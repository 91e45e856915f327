import { fuzzBytes } from './fuzz';
import { createTargets } from './targets';

/** Octets of input in an ordinary run; `npm run fuzz` is for more (docs/fuzzing.md). */
const OCTETS = 10_000_000;
/** A fixed run, so that a red test is red again. */
const RUN = 5;

describe('ten million octets of changed sessions', () => {
  let octets = 0;

  it.each(createTargets().map(({ target, share }) => [target.name, target, share] as const))(
    'find nothing in %s',
    (_name, target, share) => {
      const batchStats = fuzzBytes(target, RUN, OCTETS * share);
      octets += batchStats.bytes;
      expect(batchStats.executions).toBeGreaterThan(100);
    },
    120_000,
  );

  it('are really that many', () => {
    expect(octets).toBeGreaterThanOrEqual(OCTETS);
  });
});
