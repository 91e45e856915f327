import { FUZZ_OCTETS, FUZZ_RUN, fuzzBytes } from './fuzz';
import { createTargets } from './targets';

describe('ten million octets of changed sessions', () => {
  let octets = 0;

  it.each(createTargets().map(({ target, share }) => [target.name, target, share] as const))(
    'find nothing in %s',
    (_name, target, share) => {
      const batchStats = fuzzBytes(target, FUZZ_RUN, FUZZ_OCTETS * share);
      octets += batchStats.bytes;
      expect(batchStats.executions).toBeGreaterThan(100);
    },
    120_000,
  );

  it('are really that many', () => {
    expect(octets).toBeGreaterThanOrEqual(FUZZ_OCTETS);
  });
});
