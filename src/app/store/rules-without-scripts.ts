import type { Snapshot } from '../../../streams';
import type { Statistics } from '../../core/ports';
import type { Rules } from '../../core/rules/rules';
import { isPerSecond } from '../../counters/per-second-split';
import type { ScriptStore } from './store';

export interface RulesWithoutScriptsDeps {
  readonly rules: Snapshot<Rules | undefined>;
  readonly statistics: Pick<Statistics, 'gauge'>;
}

/** Exposes, for each Redis, the rules that need scripts while it refuses them, as `<prefix>.rules_without_scripts`. */
export function showRulesWithoutScripts(
  stores: readonly ScriptStore[],
  { rules, statistics }: RulesWithoutScriptsDeps,
): void {
  for (const { prefix, lacksScripts, counts } of stores)
    statistics.gauge(`${prefix}.rules_without_scripts`, () =>
      lacksScripts() ? countNeedingScripts(rules.current, counts) : 0,
    );
}

function countNeedingScripts(rules: Rules | undefined, counts: ScriptStore['counts']): number {
  let count = 0;
  for (const { limit } of rules?.places.keys() ?? []) {
    if (limit?.limiter.kind.readsFirst !== true) continue;
    if (counts === 'all' || isPerSecond({ rule: limit }) === (counts === 'per-second')) count += 1;
  }
  return count;
}
