import type { Reading } from '../core/kinds/kind';
import type { BudgetFigure, BudgetLine, DescriptorStats } from '../core/decision/figures';
import type { Increment } from '../core/ports';
import type { RuleLimit, Rules } from '../core/rules/rules';
import { BoundedMap, DistinctNames, CountHistogram } from './bounded-counts';
import { counterNameOf, type RunOutcome } from './run-rules';
import { explainPath, explainUnknownDomain } from '../core/explain/explain-path';
import type { NoLimit } from '../core/explain/explanation';
import type { DecisionRequest, DescriptorStatus, RequestDescriptor } from '../core/model';
import { finish } from '../core/steps';
import { copyOf } from '../platform/copy-of';

/** The figures of one rule. Requests are its descriptors; over, shadow and near count those of them with any such hit. */
export class RuleFigures {
  readonly limit: RuleLimit;
  requests = 0;
  hits = 0;
  over = 0;
  shadow = 0;
  near = 0;
  distinctKeys = 0;
  firstLimitedSeconds: number | undefined;
  lastLimitedSeconds: number | undefined;
  /** The counter's total charges after each request; empty where the counter does not contain them. */
  readonly after = new CountHistogram();
  /** The hits of each key in each window. */
  readonly perWindow = new CountHistogram();
  readonly budget = new Map<BudgetFigure, number>();
  /** Hits that each of its limits refused, by its name. */
  readonly byLimit = new Map<string, number>();

  constructor(limit: RuleLimit) {
    this.limit = limit;
  }
}

/** A key of a rule that was refused at least once. */
export interface LimitedKey {
  readonly key: string;
  readonly limit: RuleLimit;
  refused: number;
}

interface LiveWindow {
  readonly endSeconds: number;
  /** The count of each counter of a rule: numbers only, which need no memory of their own. */
  readonly counts: Map<RuleFigures, Map<string, number>>;
}

/** Gathers the figures of a run. Memory: the keys of the open windows, 16 MiB of limited keys, 16 bytes for each key ever used. */
export class FigureCollector {
  readonly rules = new Map<RuleLimit, RuleFigures>();
  readonly limitedKeys = new BoundedMap<LimitedKey>();
  readonly #names = new DistinctNames();
  #windows: readonly LiveWindow[] = [];
  #firstEndSeconds = Infinity;

  note(outcome: RunOutcome, nowSeconds: number): void {
    if (nowSeconds >= this.#firstEndSeconds) this.#fold(nowSeconds);
    const { rules, budgets, increments, seen } = outcome;
    for (const rule of rules) {
      // A settle is the end of a request that was counted when it came.
      if (rule.limit.reservation !== 'settle') this.#noteRule(rule, nowSeconds);
    }
    for (const line of budgets) this.#noteBudget(line, rules);
    for (let i = 0; i < increments.length; i++) {
      const one = seen[i];
      if (one !== undefined) this.#noteCounter(increments[i] as Increment, one);
    }
  }

  #noteRule(rule: DescriptorStats, nowSeconds: number): void {
    const figures = this.#of(rule.limit);
    figures.requests += 1;
    figures.hits += rule.totalHits;
    if (rule.nearLimit > 0) figures.near += 1;
    if (rule.overLimit === 0) return;
    if (rule.shadowMode > 0) figures.shadow += 1;
    else figures.over += 1;
    figures.firstLimitedSeconds ??= nowSeconds;
    figures.lastLimitedSeconds = nowSeconds;
  }

  #noteBudget({ metric, figure, by }: BudgetLine, rules: readonly DescriptorStats[]): void {
    const isOfLimit = figure === 'overOneLimit';
    const end = isOfLimit ? metric.lastIndexOf(LIMIT) : metric.length;
    const rule = rules.find((one) => one.metric === metric.slice(0, end));
    if (rule === undefined) return;
    const { budget, byLimit } = this.#of(rule.limit);
    if (isOfLimit) addTo(byLimit, metric.slice(end + LIMIT.length), by);
    else addTo(budget, figure, by);
  }

  /** Closes all windows; call it once, after the last request. */
  finish(): void {
    this.#fold(Infinity);
  }

  /** Reservations and settles have the figures of their rule. */
  #of(met: RuleLimit): RuleFigures {
    const limit = met.reservation === undefined ? met : (met.ofRule ?? met);
    const known = this.rules.get(limit);
    if (known !== undefined) return known;
    const figures = new RuleFigures(limit);
    this.rules.set(limit, figures);
    return figures;
  }

  #noteCounter(increment: Increment, seen: Reading): void {
    const { key, rule, limiter, windowEndSeconds } = increment;
    const figures = this.#of(rule);
    const asked = limiter.kind.hitsCharged(seen);
    let isNew = true;
    if (asked !== undefined) {
      figures.after.add(asked);
      const counts = countsOf(this.#windowAt(windowEndSeconds), figures);
      isNew = !counts.has(key);
      counts.set(key, asked);
    }
    if (isNew && this.#names.add(counterNameOf(increment))) figures.distinctKeys += 1;
    if (!rule.shadowMode && limiter.kind.isAnyRefused(increment, seen))
      this.#noteLimited(counterNameOf(increment), figures.limit);
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

/** Separates the metric of a rule from the name of one of its limits. */
const LIMIT = '.limit_';

function addTo<K>(sums: Map<K, number>, key: K, by: number): void {
  sums.set(key, (sums.get(key) ?? 0) + by);
}

function countsOf({ counts }: LiveWindow, figures: RuleFigures): Map<string, number> {
  let ofRule = counts.get(figures);
  if (ofRule === undefined) {
    ofRule = new Map();
    counts.set(figures, ofRule);
  }
  return ofRule;
}

const MAX_SHAPES = 1_000;
/** For all examples: a line of a log may have a megabyte. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** Descriptors that matched no limit, grouped by their keys. */
export interface UnmatchedShape {
  readonly domain: string;
  /** The keys, joined by commas. */
  readonly keys: string;
  /** The first of them. */
  readonly example: RequestDescriptor;
  requests: number;
}

/** Why a descriptor matched no limit. One that would match alone was replaced by a rule of another descriptor. */
export function whyUnmatched(
  { domain, example }: UnmatchedShape,
  { domains, places }: Rules,
): Pick<NoLimit, 'reason' | 'hint'> {
  const rules = domains.get(domain);
  if (rules === undefined) return finish(explainUnknownDomain(domain, domains.keys()));
  const hint = 'a rule of another descriptor of the request replaces the one that it matches';
  const { noLimit, sent } = finish(explainPath(rules, example.entries, places));
  if (noLimit === undefined) return { reason: 'replaced', hint };
  return sent === undefined ? noLimit : { ...noLimit, hint: `${noLimit.hint}; ${sent}` };
}

/** Counts descriptors without a limit by their shape; those beyond 1,000 shapes, or 16 MiB of examples, only in sum. */
export class UnmatchedCounts {
  readonly #shapes = new Map<string, UnmatchedShape>();
  #characters = 0;
  others = 0;

  note({ domain, descriptors }: DecisionRequest, statuses: readonly DescriptorStatus[]): void {
    for (let i = 0; i < descriptors.length; i++) {
      const { currentLimit, limitRemaining } = statuses[i] as DescriptorStatus;
      // An unlimited rule reports no limit either, and infinite hits left.
      if (currentLimit !== undefined || limitRemaining > 0) continue;
      this.#add(domain, descriptors[i] as RequestDescriptor);
    }
  }

  /** Most frequent first. */
  shapes(): readonly UnmatchedShape[] {
    return [...this.#shapes.values()].sort((a, b) => b.requests - a.requests);
  }

  #add(domain: string, example: RequestDescriptor): void {
    const keys = example.entries.map(({ key }) => key).join(',');
    const name = `${domain}\n${keys}`;
    const shape = this.#shapes.get(name);
    if (shape !== undefined) {
      shape.requests += 1;
      return;
    }
    const characters = example.entries.reduce((sum, { value }) => sum + value.length, name.length);
    if (this.#shapes.size >= MAX_SHAPES || this.#characters + characters > MAX_CHARACTERS) {
      this.others += 1;
      return;
    }
    this.#characters += characters;
    this.#shapes.set(name, { domain, keys, example: copyOfDescriptor(example), requests: 1 });
  }
}

/** Keeps no line of the log alive. */
function copyOfDescriptor(descriptor: RequestDescriptor): RequestDescriptor {
  const entries = descriptor.entries.map(({ key, value }) => ({
    key: copyOf(key),
    value: copyOf(value),
  }));
  return { ...descriptor, entries };
}
