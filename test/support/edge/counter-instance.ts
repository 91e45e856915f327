import type { Rules } from '../../../src/core/rules/rules';
import { startCounterInstance as start } from '../counter-instance';

export { RESET } from '../counter-instance';

/** By the real clock. */
export const startCounterInstance = (rules: Rules, env: Readonly<Record<string, string>>) =>
  start(rules, env, {
    clock: () => Date.now() / 1_000,
    monotonicMs: () => performance.now(),
    random: Math.random,
  });
