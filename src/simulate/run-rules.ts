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
import type { Rules } from '../core/rules/rules';
import { requestOfTokens } from '../core/rules/secrets';
import { createDecideBatch } from '../decisions/decide-batch';
import type { LogRecord } from './log-record';

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
