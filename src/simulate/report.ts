import { isBudgetLimiter } from '../core/budgets/budget';
import { describeLimit } from '../core/rules/describe-limit';
import type { Rules } from '../core/rules/rules';
import {
  type FigureCollector,
  type RuleFigures,
  whyUnmatched,
  type UnmatchedCounts,
} from './figures';
import type { LineCounts } from './read-log';

const MAX_LIMITED = 10;

const REPORTED = ['reserved', 'settled', 'lapsed', 'settledUnknown', 'blocks', 'blocked'] as const;

type ReportedFigure = (typeof REPORTED)[number];

export interface ReportParts {
  readonly lines: LineCounts;
  readonly missingFields: readonly string[];
  readonly sampleRate: number | undefined;
  readonly refused: number;
  readonly figures: FigureCollector;
  readonly rules: Rules;
  readonly unmatched: UnmatchedCounts;
}

/** The output of `-report json`; docs/simulate/simulate.schema.json describes it. */
export function toReport(parts: ReportParts) {
  const { lines, missingFields, sampleRate, refused, figures, unmatched } = parts;
  const limited = figures.limitedKeys.values();
  const keysLimited = new Map<unknown, number>();
  for (const { limit } of limited) keysLimited.set(limit, (keysLimited.get(limit) ?? 0) + 1);
  const mostLimited = limited
    .sort((a, b) => b.refused - a.refused || compare(a.key, b.key))
    .slice(0, MAX_LIMITED)
    .map(({ key, limit, refused: times }) => ({ key, rule: limit.metric, refused: times }));
  return {
    lines,
    /** Fields and headers that the map uses and no line has, an error; undefined: none. */
    missingFields: missingFields.length === 0 ? undefined : missingFields,
    /** Undefined: the log was complete. Else limits were scaled by it and all figures are estimates. */
    sampleRate,
    requests: lines.requests,
    refused,
    rules: [...figures.rules.values()]
      .map((rule) => toRuleReport(rule, keysLimited.get(rule.limit) ?? 0))
      .sort((a, b) => b.over - a.over || b.requests - a.requests || compare(a.rule, b.rule)),
    /** The ten keys that were refused most often. */
    mostLimited,
    /** Refusals of keys that were not considered for the list, because earlier refused keys take 16 MiB. */
    mostLimitedOthers: figures.limitedKeys.others,
    /** `reason` is a word of explain, with a sentence for a person about the first such descriptor. */
    unmatched: unmatched.shapes().map((shape) => {
      const { domain, keys, requests } = shape;
      const { reason, hint } = whyUnmatched(shape, parts.rules);
      return { domain, keys, requests, reason, hint };
    }),
    unmatchedOthers: unmatched.others,
  };
}

export type SimulationReport = ReturnType<typeof toReport>;

function toRuleReport(figures: RuleFigures, keysLimited: number) {
  const { limit, after, perWindow } = figures;
  const { requestsPerUnit } = limit;
  const percent = (share: number) =>
    Math.round((perWindow.quantile(share) / requestsPerUnit) * 1_000) / 10;
  return {
    rule: limit.metric,
    /** In words: `600 per 5 minutes, bursts of 20`. */
    limit: describeLimit(limit),
    /** It refused nothing: `shadow` counts what it would have refused. */
    shadowMode: limit.shadowMode,
    /** The hash with the limits of single values, which the command does not read: all have the rule's own limit. */
    limitsFrom: limit.limitsFrom?.key,
    requests: figures.requests,
    hits: figures.hits,
    over: figures.over,
    shadow: figures.shadow,
    near: figures.near,
    distinctKeys: figures.distinctKeys,
    /** A lower bound: with `mostLimitedOthers` some are unknown. */
    keysLimited,
    /** RFC 3339; undefined when no request was limited. */
    firstLimited: toTime(figures.firstLimitedSeconds),
    lastLimited: toTime(figures.lastLimitedSeconds),
    ...budgetOf(figures),
    /** Hits of a key in a window as a share of the limit, in percent; undefined under a limit of 0 or none. */
    use:
      perWindow.total === 0 || requestsPerUnit === 0
        ? undefined
        : { p50: percent(0.5), p95: percent(0.95), p99: percent(0.99), max: percent(1) },
    /** The smallest limits under which fewer than 1 %, 0.1 % and none of the requests would have been refused. */
    smallestLimit:
      after.total === 0
        ? undefined
        : {
            onePercent: after.leastBound(0.01),
            onePerMille: after.leastBound(0.001),
            none: after.leastBound(0),
          },
  };
}

export type RuleReport = ReturnType<typeof toRuleReport>;

function budgetOf({ limit, budget, byLimit }: RuleFigures) {
  const { limiter, budget: limits } = limit;
  if (limits === undefined || !isBudgetLimiter(limiter))
    return { limits: undefined, budget: undefined };
  const { reserve, blocks } = limiter.budget;
  const figures = REPORTED.map((figure) => [figure, budget.get(figure) ?? 0] as const);
  return {
    /** For a rule with several limits: the hits that each refused. */
    limits:
      limits.names.length < 2
        ? undefined
        : limits.names.map((name) => ({ name, over: byLimit.get(name) ?? 0 })),
    /** For a rule with reservations or blocks; the figures of its statistics. */
    budget:
      reserve === undefined && blocks.length === 0
        ? undefined
        : (Object.fromEntries(figures) as Record<ReportedFigure, number>),
  };
}

function toTime(seconds: number | undefined): string | undefined {
  return seconds === undefined ? undefined : new Date(Math.round(seconds * 1_000)).toISOString();
}

/** Order of code units, the same on every machine. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
