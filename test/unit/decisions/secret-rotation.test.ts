import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import { createDecider, decisionOf } from '../../support/decider';
import { request } from '../../support/requests';
import { createTokens, ROTATION_SECONDS, secretRules } from '../../support/secret-rules';

const LIMIT = 50;
const text = (unit: string) => `
domain: shop
descriptors:
  - key: api_key
    hash_value: true
    rate_limit: { unit: ${unit}, requests_per_unit: ${String(LIMIT)} }
`;

/** Two instances with clocks of their own before one store. */
function startTwo(unit: string) {
  let now = 0;
  const counters = createMemoryCounters({ clock: () => now }, {});
  const start = (aheadSeconds: number) => {
    const clock = () => now + aheadSeconds;
    const rules = { current: secretRules(text(unit), createTokens(clock)) };
    const decide = createDecider({ rules, counters, clock });
    return async (): Promise<number> => {
      const { answers } = await decide(request('shop', ['api_key=abc']));
      return decisionOf(answers[0]).statuses[0]?.limitRemaining ?? NaN;
    };
  };
  return {
    // Less than a second apart, so that both see the same windows.
    instances: [start(0), start(0.25)] as const,
    at(seconds: number) {
      now = seconds;
    },
  };
}

describe('rotation of a secret key', () => {
  it.each(['minute', 'hour', 'day'])(
    'loses and doubles no count of two instances within a %s',
    async (unit) => {
      const { instances, at } = startTwo(unit);
      const remaining: number[] = [];
      for (let second = -10; second < 10; second++) {
        at(ROTATION_SECONDS + second);
        for (const hit of instances) remaining.push(await hit());
      }
      expect(remaining).toEqual(remaining.map((_, at) => LIMIT - 1 - at));
    },
  );

  it('counts on where the window that begins after it begins', async () => {
    const { instances, at } = startTwo('minute');
    at(ROTATION_SECONDS + 29.5);
    for (const hit of instances) expect(await hit()).toBeLessThan(LIMIT);
    const remaining: number[] = [];
    for (let second = 30; second < 40; second++) {
      at(ROTATION_SECONDS + second);
      for (const hit of instances) remaining.push(await hit());
    }
    expect(remaining).toEqual(remaining.map((_, at) => LIMIT - 1 - at));
  });
});
