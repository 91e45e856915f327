import { isBudgetGate } from '../../core/budgets/budget';
import type { Increment } from '../../core/ports';

/** Why a limit of this name cannot be set for all of these counters; undefined: it can, or none is named. */
export function faultOfLimit(
  counters: readonly Increment[],
  limit: string | undefined,
): string | undefined {
  if (limit === undefined) return undefined;
  const said = `limit is ${JSON.stringify(limit)}`;
  for (const { gate, rule } of counters) {
    const { names } = rule.budget ?? {};
    if (names === undefined || !isBudgetGate(gate))
      return `${said}, but the rule ${rule.metric} has no rate_limits: leave it out`;
    const at = names.indexOf(limit);
    if (at === -1) return `${said}, expected one of ${names.join(', ')}`;
    if (gate.budget.entries[at]?.isSlots === true)
      return `${said}, which counts open reservations: reset with "open": true ends them`;
  }
  return undefined;
}
