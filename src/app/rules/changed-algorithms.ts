import { placesOfLimits } from '../../core/rules/dump';
import type { RuleLimit, Rules } from '../../core/rules/rules';
import type { Logger } from '../../platform/logger';

/** Rules compared in one step. */
const STEP = 256;
/** Rules that the log names. */
const MAX_NAMED = 10;

/** Says in the log which rules are counted by another algorithm than before, in steps: their counters begin anew. */
export function createAlgorithmWatch(logger: Pick<Logger, 'info'>) {
  let before: ReadonlyMap<string, string> | undefined;
  return function* (rules: Rules): Generator<void> {
    const now = new Map<string, string>();
    const changed: string[] = [];
    let visited = 0;
    for (const place of placesOfLimits(rules)) {
      visited += 1;
      if (visited % STEP === 0) yield;
      if (place === undefined) continue;
      const { path, limit } = place;
      const algorithm = algorithmOf(limit);
      now.set(path, algorithm);
      const known = before?.get(path);
      if (known !== undefined && known !== algorithm)
        changed.push(`${path}: ${known} to ${algorithm}`);
    }
    before = now;
    if (changed.length === 0) return;
    const fields = { rules: changed.length, first: changed.slice(0, MAX_NAMED) };
    logger.info('the algorithm of rules has changed, their counters begin anew', fields);
  };
}

/** How the counter of a limit counts; under several limits, holds or blocks it has one record. */
function algorithmOf({ budget, limiter: { kind } }: RuleLimit): string {
  if (budget !== undefined) return `budget of ${budget.names.join(' ')}`;
  return kind.isRecord ? kind.words.name : 'fixed_window';
}
