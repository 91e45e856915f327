import { countAdmitted } from '../core/algorithms/apply-asks';
import type { CounterState } from '../core/algorithms/counter-state';
import type { Increment } from '../core/ports';
import type { RuleLimit } from '../core/rules/rules';
import { BoundedMap } from './bounded-map';
import { DistinctNames } from './distinct-names';
import { CountHistogram } from './histogram';
import { counterNameOf, type RunOutcome } from './run-rules';

/** What one rule did. Requests are descriptors that met it; over, shadow and near count those of them with any such hit. */
export interface RuleFigures {
  readonly limit: RuleLimit;
  requests: number;
  hits: number;
  over: number;
  shadow: number;
  near: number;
  distinctKeys: number;
  firstLimitedSeconds: number | undefined;
  lastLimitedSeconds: number | undefined;
  /** Where the counter stood after each request; empty under an algorithm. */
  readonly after: CountHistogram;
  /** The hits of each key in each window. */
  readonly perWindow: CountHistogram;
}

/** A key of a rule that was refused at least once. */
export interface LimitedKey {
  readonly key: string;
  readonly limit: RuleLimit;
  refused: number;
}

interface LiveWindow {
  readonly endSeconds: number;
  /** Where each counter of a rule stands: numbers alone, which take no memory of their own. */
  readonly counts: Map<RuleFigures, Map<string, number>>;
}

/** Gathers the figures of a run. Memory: the keys of the windows that are open, 16 MiB of those that were limited, 16 bytes for each key ever met. */
export class FigureSheet {
  readonly rules = new Map<RuleLimit, RuleFigures>();
  readonly limitedKeys = new BoundedMap<LimitedKey>();
  readonly #names = new DistinctNames();
  #windows: readonly LiveWindow[] = [];
  #firstEndSeconds = Infinity;

  note(outcome: RunOutcome, nowSeconds: number): void {
    if (nowSeconds >= this.#firstEndSeconds) this.#fold(nowSeconds);
    const { rules, increments, after, states } = outcome;
    for (const rule of rules) {
      const figures = this.#of(rule.limit);
      figures.requests += 1;
      figures.hits += rule.totalHits;
      if (rule.nearLimit > 0) figures.near += 1;
      if (rule.overLimit === 0) continue;
      if (rule.shadowMode > 0) figures.shadow += 1;
      else figures.over += 1;
      figures.firstLimitedSeconds ??= nowSeconds;
      figures.lastLimitedSeconds = nowSeconds;
    }
    for (let i = 0; i < increments.length; i++) {
      const increment = increments[i] as Increment;
      if (increment.algorithm === undefined) this.#noteCounter(increment, after[i] as number);
      else this.#noteRolling(increment, states[i]);
    }
  }

  /** Closes all windows; to be called once, after the last request. */
  finish(): void {
    this.#fold(Infinity);
  }

  #of(limit: RuleLimit): RuleFigures {
    let figures = this.rules.get(limit);
    if (figures === undefined) {
      figures = {
        limit,
        requests: 0,
        hits: 0,
        over: 0,
        shadow: 0,
        near: 0,
        distinctKeys: 0,
        firstLimitedSeconds: undefined,
        lastLimitedSeconds: undefined,
        after: new CountHistogram(),
        perWindow: new CountHistogram(),
      };
      this.rules.set(limit, figures);
    }
    return figures;
  }

  #noteCounter({ key, rule, limit, windowEndSeconds }: Increment, after: number): void {
    const figures = this.#of(rule);
    figures.after.add(after);
    const counts = countsOf(this.#windowAt(windowEndSeconds), figures);
    const before = counts.size;
    counts.set(key, after);
    if (counts.size > before) this.#noteName(figures, key);
    if (after > limit && !rule.shadowMode) this.#noteLimited(counterNameOf(key), rule);
  }

  /** Under an algorithm a counter does not hold the hits of a window: it says neither its use nor a smaller limit. */
  #noteRolling(increment: Increment, state: CounterState | undefined): void {
    const { key, rule } = increment;
    this.#noteName(this.#of(rule), key);
    if (!rule.shadowMode && isRefused(increment, state))
      this.#noteLimited(counterNameOf(key), rule);
  }

  #noteName(figures: RuleFigures, key: string): void {
    if (this.#names.add(counterNameOf(key))) figures.distinctKeys += 1;
  }

  #noteLimited(name: string, limit: RuleLimit): void {
    const limited = this.limitedKeys.at(name, (key) => ({ key, limit, refused: 0 }));
    if (limited !== undefined) limited.refused += 1;
  }

  #windowAt(endSeconds: number): LiveWindow {
    for (const window of this.#windows) if (window.endSeconds === endSeconds) return window;
    const window: LiveWindow = { endSeconds, counts: new Map() };
    this.#windows = [...this.#windows, window];
    this.#firstEndSeconds = Math.min(this.#firstEndSeconds, endSeconds);
    return window;
  }

  #fold(nowSeconds: number): void {
    const ended = this.#windows.filter(({ endSeconds }) => endSeconds <= nowSeconds);
    for (const { counts } of ended) {
      for (const [figures, ofRule] of counts)
        for (const count of ofRule.values()) figures.perWindow.add(count);
    }
    this.#windows = this.#windows.filter(({ endSeconds }) => endSeconds > nowSeconds);
    this.#firstEndSeconds = Math.min(...this.#windows.map(({ endSeconds }) => endSeconds));
  }
}

function countsOf({ counts }: LiveWindow, figures: RuleFigures): Map<string, number> {
  let ofRule = counts.get(figures);
  if (ofRule === undefined) {
    ofRule = new Map();
    counts.set(figures, ofRule);
  }
  return ofRule;
}

/** Whether one of its asks was. */
function isRefused(
  { algorithm, hits, times = 1 }: Increment,
  state: CounterState | undefined,
): boolean {
  if (algorithm === undefined || state === undefined || hits <= 0) return false;
  return countAdmitted(algorithm, state, { hits: Number(hits), times }) < times;
}
