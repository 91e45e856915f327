import { createMemoryCounters } from '../../src/counters/memory/create-memory-counters';
import { keyFor, slowRule } from '../support/algorithm-increments';
import { START_SECONDS } from '../support/increments';
import { describeCounters } from './counters.contract';

const clock = () => START_SECONDS;

const algorithms = [slowRule('gcra'), slowRule('sliding_window')];

describeCounters(
  'memory',
  () => {
    const counters = createMemoryCounters({ clock });
    return Promise.resolve({
      counters,
      read: (key) => {
        const algorithm = algorithms.find((one) => key.endsWith(keyFor(one, '')));
        const entry = counters.read(key, clock(), algorithm);
        return Promise.resolve(
          entry && { value: String(entry.value), ttlSeconds: entry.ttlSeconds },
        );
      },
      stop: () => counters.close(),
    });
  },
  { knowsAlgorithms: true },
);
