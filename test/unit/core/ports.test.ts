import { readingOf, type CounterReply } from '../../../src/core/ports';
import { limiterOf } from '../../support/limiters';
import { increment } from '../../support/increments';

const state = { used: 3, previous: 0, elapsed: 0 };
const counted: CounterReply = { after: [7], held: undefined, failures: undefined };
const gcra = limiterOf({ name: 'gcra', limit: 10, periodSeconds: 60 });

describe('what a reply says of a counter', () => {
  it('is the count of a plain window', () => {
    expect(readingOf(increment('a'), counted, 0)).toBe(7);
  });

  it('is the state where it has one', () => {
    const asked = { ...increment('a'), limiter: gcra };
    expect(readingOf(asked, { ...counted, states: [state] }, 0)).toBe(state);
  });

  it.each([undefined, [undefined]])(
    'cannot be a count where a kind looks before it charges: %j',
    (states) => {
      const asked = { ...increment('a'), limiter: gcra };
      const { metric } = asked.rule;
      expect(() => readingOf(asked, { ...counted, states }, 0)).toThrow(
        `the store does not support the algorithm of the rule ${metric}`,
      );
    },
  );
});
