import { ByteBudget } from '../platform/byte-budget';
import type { HttpLimits } from '../platform/http-listener';
import type { BoundSettings } from '../settings/bounds';
import type { Registry } from '../stats/registry';

/** What the connections of all ports may hold, with the statistics that say how much they do. */
export function createConnectionLimits(
  { maxHeldBytes, maxConnections }: BoundSettings,
  registry: Registry,
): HttpLimits {
  const budget = new ByteBudget(maxHeldBytes, () => {
    registry.count('ratelimit.connections.ended_unread', 1);
  });
  registry.gauge('ratelimit.connections.held_bytes', () => budget.heldBytes);
  return { budget, maxConnections };
}
