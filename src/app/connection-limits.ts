import { ByteBudget } from '../platform/byte-budget';
import type { HttpLimits } from '../platform/http-listener';
import type { BoundSettings } from '../settings/bounds';
import type { Registry } from '../stats/registry';

/** What the connections of all ports may hold; those that are ended for it are counted. */
export function createConnectionLimits(
  { maxHeldBytes, maxConnections }: BoundSettings,
  registry: Registry,
): HttpLimits {
  const budget = new ByteBudget(maxHeldBytes, () => {
    registry.count('ratelimit.connections.ended_unread', 1);
  });
  return { budget, maxConnections };
}
