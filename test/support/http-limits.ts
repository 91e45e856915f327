import { ByteBudget } from '../../src/platform/byte-budget';
import type { HttpLimits } from '../../src/platform/http-listener';

/** Limits for a listener that a test starts: those of the default settings, but for what it names. */
export function httpLimits({
  maxHeldBytes = 134_217_728,
  maxConnections = 10_000,
} = {}): HttpLimits {
  return { budget: new ByteBudget(maxHeldBytes), maxConnections };
}
