import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { describeAlgorithms } from './algorithms.contract';
import { describeCounters } from './counters.contract';

const clock = () => Date.now() / 1_000;

describeCounters('memory', () => {
  const counters = createMemoryCounters({ clock });
  return Promise.resolve({
    counters,
    read: (key) => {
      const entry = counters.read(key, clock());
      return Promise.resolve(entry && { value: String(entry.value), ttlSeconds: entry.ttlSeconds });
    },
    stop: () => counters.close(),
  });
});

describeAlgorithms('memory', () => {
  const counters = createMemoryCounters({ clock });
  return Promise.resolve({ counters, stop: () => counters.close() });
});
