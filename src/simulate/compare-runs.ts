import type { Rules } from '../core/rules/rules';
import { BoundedMap } from './bounded-counts';
import { compare } from './report';
import { counterNameOf, decidingRule, type RunOutcome } from './run-rules';
import { describeLimit } from '../core/rules/describe-limit';
import { dumpLimit, listLimits, type LimitPlace } from '../core/rules/dump';

const MAX_CHANGED = 10;

type Change = 'OK→OVER_LIMIT' | 'OVER_LIMIT→OK';

interface ChangedPair {
  readonly change: Change;
  readonly first: string;
  readonly second: string;
  requests: number;
}

interface ChangedKey {
  readonly key: string;
  okToOver: number;
  overToOk: number;
}

/** Follows two runs side by side. */
export class RunComparison {
  readonly #pairs = new BoundedMap<ChangedPair>();
  readonly #keys = new BoundedMap<ChangedKey>();
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

  finish(first: Rules, second: Rules) {
    return {
      changed: this.#okToOver + this.#overToOk,
      okToOver: this.#okToOver,
      overToOk: this.#overToOk,
      /** By the rules that refused: of the first set, of the second. */
      pairs: this.#pairs
        .values()
        .sort((a, b) => b.requests - a.requests || compare(a.first + a.second, b.first + b.second)),
      /** Changes of pairs that are not listed, because earlier pairs take 16 MiB. */
      pairsOthers: this.#pairs.others,
      /** The ten keys with the most changes. */
      keys: this.#keys
        .values()
        .sort((a, b) => changesOf(b) - changesOf(a) || compare(a.key, b.key))
        .slice(0, MAX_CHANGED),
      /** Changes of keys that were not considered for the list, because earlier keys take 16 MiB. */
      keysOthers: this.#keys.others,
      ...compareRules(first, second),
    };
  }

  #notePair(change: Change, first: RunOutcome, second: RunOutcome): void {
    const before = decidingRule(first)?.metric ?? '-';
    const after = decidingRule(second)?.metric ?? '-';
    const pair = this.#pairs.at(`${change} ${before} ${after}`, () => {
      return { change, first: before, second: after, requests: 0 };
    });
    if (pair !== undefined) pair.requests += 1;
  }

  #noteKey(refused: RunOutcome, isNewlyOver: boolean): void {
    const rule = decidingRule(refused)?.limit;
    const increment = refused.increments.find((one) => one.rule === rule);
    if (increment === undefined) return;
    const name = counterNameOf(increment);
    const changes = this.#keys.at(name, (key) => ({ key, okToOver: 0, overToOk: 0 }));
    if (changes === undefined) return;
    if (isNewlyOver) changes.okToOver += 1;
    else changes.overToOk += 1;
  }
}

/** Decisions that differ between two sets of rules over the same log. */
export type Comparison = ReturnType<RunComparison['finish']>;

function changesOf({ okToOver, overToOk }: { okToOver: number; overToOk: number }): number {
  return okToOver + overToOk;
}

/** A rule that both sets have, with its limit in each. */
export interface ChangedLimit {
  readonly rule: string;
  /** In words: `5 per minute, shadow mode`. */
  readonly first: string;
  readonly second: string;
}

/** The differences between the rules themselves, whatever the log contains. */
export function compareRules(first: Rules, second: Rules) {
  const [before, after] = [byPath(first), byPath(second)];
  const changedLimits: ChangedLimit[] = [];
  for (const [rule, place] of before) {
    const other = after.get(rule);
    if (other === undefined) continue;
    const [from, to] = [words(place), words(other)];
    if (from !== to) changedLimits.push({ rule, first: from, second: to });
  }
  return {
    changedLimits,
    onlyInFirst: missingIn(after, before),
    onlyInSecond: missingIn(before, after),
  };
}

export type RuleDifferences = ReturnType<typeof compareRules>;

function byPath(rules: Rules): ReadonlyMap<string, LimitPlace> {
  return new Map(listLimits(rules).map((place) => [place.path, place]));
}

function missingIn(
  others: ReadonlyMap<string, LimitPlace>,
  places: ReadonlyMap<string, LimitPlace>,
): readonly string[] {
  return [...places.values()].filter(({ path }) => !others.has(path)).map(dumpLimit);
}

function words({ limit, isChargedTogether }: LimitPlace): string {
  const { shadowMode, quotaMode } = limit;
  return [
    describeLimit(limit),
    ...(shadowMode ? ['shadow mode'] : []),
    ...(quotaMode ? ['quota mode'] : []),
    ...(isChargedTogether ? ['charge: together'] : []),
  ].join(', ');
}
