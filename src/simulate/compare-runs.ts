import type { Rules } from '../core/rules/rules';
import { compare } from './report';
import { counterNameOf, decidingRule, type RunOutcome } from './run-rules';

const MAX_CHANGED = 10;
const MAX_KEYS = 100_000;

/** Decisions that differ between two sets of rules over the same log. */
export interface Comparison {
  readonly changed: number;
  readonly okToOver: number;
  readonly overToOk: number;
  /** By the rules that refused: of the first set, of the second. */
  readonly pairs: readonly {
    change: Change;
    first: string;
    second: string;
    requests: number;
  }[];
  /** The ten keys with the most changes. */
  readonly keys: readonly { key: string; okToOver: number; overToOk: number }[];
  readonly onlyInFirst: readonly string[];
  readonly onlyInSecond: readonly string[];
}

type Change = 'OK→OVER_LIMIT' | 'OVER_LIMIT→OK';

/** Follows two runs side by side. */
export class RunComparison {
  readonly #pairs = new Map<
    string,
    { change: Change; first: string; second: string; requests: number }
  >();
  readonly #keys = new Map<string, { key: string; okToOver: number; overToOk: number }>();
  #okToOver = 0;
  #overToOk = 0;

  note(first: RunOutcome, second: RunOutcome): void {
    const code = second.decision.overallCode;
    if (first.decision.overallCode === code) return;
    const isNewlyOver = code === 'OVER_LIMIT';
    if (isNewlyOver) this.#okToOver += 1;
    else this.#overToOk += 1;
    this.#notePair(isNewlyOver ? 'OK→OVER_LIMIT' : 'OVER_LIMIT→OK', first, second);
    this.#noteKey(isNewlyOver ? second : first, isNewlyOver);
  }

  finish(first: Rules, second: Rules, dump: (rules: Rules) => readonly string[]): Comparison {
    const [firstRules, secondRules] = [new Set(dump(first)), new Set(dump(second))];
    return {
      changed: this.#okToOver + this.#overToOk,
      okToOver: this.#okToOver,
      overToOk: this.#overToOk,
      pairs: [...this.#pairs.values()].sort(
        (a, b) => b.requests - a.requests || compare(a.first + a.second, b.first + b.second),
      ),
      keys: [...this.#keys.values()]
        .sort((a, b) => changesOf(b) - changesOf(a) || compare(a.key, b.key))
        .slice(0, MAX_CHANGED),
      onlyInFirst: [...firstRules].filter((rule) => !secondRules.has(rule)),
      onlyInSecond: [...secondRules].filter((rule) => !firstRules.has(rule)),
    };
  }

  #notePair(change: Change, first: RunOutcome, second: RunOutcome): void {
    const [before, after] = [first, second].map((outcome) => decidingRule(outcome)?.metric ?? '-');
    const name = `${change} ${before ?? ''} ${after ?? ''}`;
    const pair = this.#pairs.get(name);
    if (pair !== undefined) pair.requests += 1;
    else this.#pairs.set(name, { change, first: before ?? '', second: after ?? '', requests: 1 });
  }

  #noteKey(refused: RunOutcome, isNewlyOver: boolean): void {
    const rule = decidingRule(refused)?.limit;
    const increment = refused.increments.find((one) => one.rule === rule);
    if (increment === undefined) return;
    const key = counterNameOf(increment.key);
    let changes = this.#keys.get(key);
    if (changes === undefined) {
      if (this.#keys.size >= MAX_KEYS) return;
      changes = { key, okToOver: 0, overToOk: 0 };
      this.#keys.set(key, changes);
    }
    if (isNewlyOver) changes.okToOver += 1;
    else changes.overToOk += 1;
  }
}

function changesOf({ okToOver, overToOk }: { okToOver: number; overToOk: number }): number {
  return okToOver + overToOk;
}
