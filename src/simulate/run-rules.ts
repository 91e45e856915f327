import type { Readable } from 'node:stream';
import { checkRules } from '../rule-sources/check/check-rules';
import { parseRules } from '../rule-sources/parse-rules';
import { readSource } from '../rule-sources/read-source';
import { compileRules } from '../core/rules/compile';
import type { DomainDefinition, LimitDefinition, RuleDefinition } from '../core/rules/definition';
import type { Rules } from '../core/rules/rules';
import type { ZoneLookup } from '../core/windows/zone-data';
import { TokenMaker } from '../platform/secret-keys';
import type { Reading } from '../core/kinds/kind';
import { createMemoryCounters } from '../counters/memory/create-memory-counters';
import type { Decision } from '../core/model';
import {
  readingOf,
  type Answer,
  type CounterBatch,
  type CounterReply,
  type Increment,
} from '../core/ports';
import type { DecisionRecord } from '../core/decision/decision-record';
import type { BatchStats, BudgetLine, DescriptorStats } from '../core/decision/figures';
import { isBudgetLimiter } from '../core/budgets/budget';
import { requestOfTokens } from '../core/rules/secrets';
import { createDecideBatch } from '../decisions/decide-batch';
import type { LogRecord } from './log-record';

/** Rules that the service would refuse: every mistake in them, one line each. */
export class RulesRefused extends Error {
  override readonly name = 'RulesRefused';
}

export interface LoadOptions {
  readonly mergeDomains: boolean;
  /** Limits and bursts are multiplied by it, rounded up; undefined: unchanged. */
  readonly sampleRate: number | undefined;
  readonly stdin: Readable;
  /** Undefined: time zones come from the runtime. */
  readonly zones?: ZoneLookup | undefined;
}

/** Reads and checks a directory of rules as the service does. Throws `RulesRefused`. */
export async function loadRules(directory: string, options: LoadOptions): Promise<Rules> {
  const { mergeDomains, sampleRate, stdin, zones } = options;
  const files = await readSource({ kind: 'directory', path: directory }, stdin);
  const merging = `-merge_domain_configs=${String(mergeDomains)}`;
  const args = [merging, '-config_dir', directory];
  const checked = await checkRules(args, () => Promise.resolve(files), zones);
  if (checked.exitCode !== 0) throw new RulesRefused(checked.lines.join('\n'));
  const { domains } = parseRules(files.files, { mergeDomains, hasZone: zones?.has });
  // Without the keys of the service, a secret value becomes a plain hash: two runs give the same report.
  const tokens = new TokenMaker(() => 0);
  const scaled = sampleRate === undefined ? domains : scale(domains, sampleRate);
  return compileRules(scaled, { tokens, ...(zones && { findZone: zones.find }) });
}

/** Limits and bursts for a sampled log: at least 1, and a limit of 0 stays 0. */
function scale(domains: readonly DomainDefinition[], rate: number): readonly DomainDefinition[] {
  const scaleLimit = (limit: LimitDefinition): LimitDefinition => {
    const requestsPerUnit = Math.ceil(limit.requestsPerUnit * rate);
    const burst = limit.burst && Math.ceil(limit.burst * rate);
    return { ...limit, requestsPerUnit, burst };
  };
  const scaleRule = (rule: RuleDefinition): RuleDefinition => {
    const { limit, budget } = rule;
    if (limit === undefined) return rule;
    const scaled = { ...rule, limit: scaleLimit(limit) };
    return budget === undefined
      ? scaled
      : { ...scaled, budget: { ...budget, limits: budget.limits.map(scaleLimit) } };
  };
  return domains.map((domain) => ({ ...domain, rules: domain.rules.map(scaleRule) }));
}

/** The result of one request. */
export interface RunOutcome {
  readonly decision: Decision;
  /** One for each descriptor with a limit, in order. */
  readonly rules: readonly DescriptorStats[];
  /** Additional counts of rules with budgets. */
  readonly budgets: readonly BudgetLine[];
  /** The counters that it changed, and their readings. */
  readonly increments: readonly Increment[];
  readonly seen: readonly (Reading | undefined)[];
}

const NOTHING: readonly never[] = [];

export interface RuleRunOptions {
  readonly nearLimitRatio: number;
  /** Called with every decision as a record of the decision log. */
  readonly onDecision?: ((record: DecisionRecord) => void) | undefined;
}

/**
 * Decides as the service does: its planner, its counters in memory, its verdicts, one request per batch. No jitter and no clock of
 * the machine, so that the same log gives the same results.
 */
export function createRuleRun(rules: Rules, { nearLimitRatio, onDecision }: RuleRunOptions) {
  let nowSeconds = 0;
  const clock = () => nowSeconds;
  const memory = createMemoryCounters({ clock }, { maxKeys: Infinity, maxBytes: Infinity });
  let batch: CounterBatch | undefined;
  let reply: CounterReply | undefined;
  const counters = {
    add(asked: CounterBatch): Promise<CounterReply> {
      batch = asked;
      return memory.add(asked).then((given) => (reply = given));
    },
  };
  let answer: Answer | undefined;
  const responder = {
    answer(_callId: number, given: Answer) {
      answer = given;
      return true;
    },
  };
  const decideBatch = createDecideBatch(
    {
      rules: { current: rules },
      counters,
      clock,
      random: () => 0,
      log: onDecision && { isWanted: () => true, write: onDecision },
      onFault(error) {
        throw error;
      },
    },
    {
      keyPrefix: '',
      ttlJitterSeconds: 0,
      holdBack: false,
      nearLimitRatio,
      quotaMode: false,
      shadowMode: false,
      headers: undefined,
      dynamicMetadata: false,
    },
  );

  return {
    rules,
    /** Undefined for a request that is invalid for the service (without a domain or a descriptor). */
    async decide({ timeSeconds, request }: LogRecord): Promise<RunOutcome | undefined> {
      nowSeconds = timeSeconds;
      batch = reply = answer = undefined;
      const asked = requestOfTokens(rules.secrets, request);
      const batchStats: BatchStats = await decideBatch([{ request: asked, responder, callId: 0 }]);
      const decision = answer as Answer | undefined;
      if (decision?.kind !== 'decision') return undefined;
      const increments = (batch as CounterBatch | undefined)?.increments ?? NOTHING;
      const given = reply as CounterReply | undefined;
      const seen = increments.map((one, at) => given && readingOf(one, given, at));
      const { rules: counted, budgets = NOTHING } = batchStats;
      return { decision, rules: counted, budgets, increments, seen };
    },
    close: () => memory.close(),
  };
}

/** One set of rules with counters of its own, on the clock of the log. */
export type RuleRun = ReturnType<typeof createRuleRun>;

/** The descriptor that made the service refuse a request: the first that is over a limit which is not in shadow mode. */
export function decidingRule({ decision, rules }: RunOutcome): DescriptorStats | undefined {
  if (decision.overallCode === 'OK') return undefined;
  return rules.find(({ overLimit, shadowMode }) => overLimit > 0 && shadowMode === 0);
}

/** The name of a counter without the start of its window, and without the decoration of a budget's. */
export function counterNameOf({ key, limiter }: Pick<Increment, 'key' | 'limiter'>): string {
  return isBudgetLimiter(limiter)
    ? key.slice(key.indexOf(':') + 1, key.lastIndexOf('~', key.lastIndexOf('}')))
    : key.slice(0, key.lastIndexOf('_'));
}
