import { createBatchStats, execute, Finding } from './fuzz';
import { LARGEST_INPUT, mutateSession } from './mutate';
import { createRandom } from './random';
import { formatSession, readCorpus, splitFrames } from './sessions';
import type { Target } from './target';

const corpus = readCorpus();

describe('the mutator', () => {
  it('makes the same session of the same seed, and another of another', () => {
    const make = (seed: number) => mutateSession(createRandom(seed), corpus).toString('hex');
    expect(make(7)).toBe(make(7));
    expect(new Set([1, 2, 3, 4, 5, 6].map(make)).size).toBeGreaterThan(4);
  });

  it('keeps to its bound', () => {
    const random = createRandom(1);
    const sizes = Array.from({ length: 2_000 }, () => mutateSession(random, corpus).length);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(LARGEST_INPUT + 64);
  });
});

describe('the corpus', () => {
  it('is frames that make their sessions again', () => {
    for (const { frames } of corpus.flat()) {
      const bytes = Buffer.concat([...frames]);
      expect(splitFrames(bytes).map(String)).toEqual(frames.map(String));
      expect(formatSession(bytes)).toContain(frames[0]?.toString('hex'));
    }
  });
});

describe('a finding', () => {
  const target: Target = {
    name: 'brittle',
    make: (random) => random.bytes(200),
    check: (input) => {
      if (input.includes(0x2a)) throw new Error('it holds 42');
    },
  };

  it('says why, how to see it again, and the smallest input that does it', () => {
    const batchStats = createBatchStats();
    const given = Buffer.from([1, 2, 3, 0x2a, 4, 5, 6]);
    let found: unknown;
    try {
      execute(target, 99, batchStats, given);
    } catch (error) {
      found = error;
    }
    expect(found).toBeInstanceOf(Finding);
    const { message } = found as Finding;
    expect(message).toContain('it holds 42');
    expect(message).toContain('npm run fuzz -- --target brittle --seed 99');
    expect(message).toContain('smallest input: 2a');
    expect(batchStats).toMatchObject({ executions: 1, bytes: 7 });
  });
});
