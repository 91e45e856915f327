import { merge, type Observable } from 'rxjs';
import { createMailbox, inOrder } from '../../../../streams';
import type { DomainDefinition } from '../../../core/rules/definition';
import type { Rules } from '../../../core/rules/rules';
import { WHOLE, type RuleProblem } from '../../../fields/problem';
import type { Logger } from '../../../platform/logger';
import type { LoadedRules, LoadResult } from '../../../rule-sources/load-result';
import { toChunks } from '../../../rule-sources/loader/chunks';
import type { Slot } from './slot';

/** A worker that takes rules. */
type Receiver = Pick<Slot, 'worker' | 'state' | 'send'>;

export interface RuleRelayDeps {
  readonly slots: readonly Receiver[];
  /** The definitions of a set of rules. */
  readonly definitionsOf: (rules: Rules) => readonly DomainDefinition[];
  /** Another worker is overdue, or one is no longer. */
  readonly onOverdue: () => void;
  /** A set of rules that was emitted as good was withdrawn. */
  readonly onTakenBack: () => void;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}

const IN_FORCE_WITHIN_MS = 5_000;
/** A worker that dies this soon after receiving a set of rules may have died of it; a set is poison after this many such deaths. */
const POISON_MS = 10_000;
const POISON_DEATHS = 3;
/** A death this long after the previous one starts a new count: by then a worker would have started again and died of the same set. */
const FORGET_DEATHS_MS = 30_000;
/** Entries per message: a worker receives it in a fraction of a millisecond. */
const CHUNK_SIZE = 250;

const TAKEN_BACK = 'workers crashed after loading the new rules; rolled back';

interface RuleSet {
  readonly number: number;
  readonly load: LoadedRules<Rules>;
  deaths: number;
  lastDeathMs: number;
  /** Whether the load was emitted as good: then another emission must withdraw it. */
  isEmitted: boolean;
}

/** Sends every good set of rules to all workers, and withdraws a set that crashes workers. */
export function createRuleRelay(
  goodAndBad$: Observable<LoadResult<Rules>>,
  { slots, definitionsOf, onOverdue, onTakenBack, monotonicMs, logger }: RuleRelayDeps,
) {
  let lastNumber = 0;
  let current: RuleSet | undefined;
  let before: RuleSet | undefined;
  const numbers = new Map<number, number>();
  const sentMs = new Map<number, number>();
  const overdue = new Set<number>();
  const takenBack = createMailbox<LoadResult<Rules>>();
  let settle: () => void = () => undefined;

  const send = (slot: Receiver, { number, load }: RuleSet): void => {
    sentMs.set(slot.worker, monotonicMs());
    for (const [name, zone] of load.rules.zones ?? []) slot.send({ kind: 'zone', name, zone });
    const domains = definitionsOf(load.rules);
    for (const chunk of toChunks(domains, CHUNK_SIZE)) slot.send({ kind: 'rules-part', chunk });
    slot.send({ kind: 'rules', number });
  };
  const put = (load: LoadedRules<Rules>): RuleSet => {
    const number = (lastNumber += 1);
    const set: RuleSet = { number, load, deaths: 0, lastDeathMs: -Infinity, isEmitted: false };
    before = current;
    current = set;
    for (const slot of slots) if (slot.state === 'up') send(slot, set);
    return set;
  };
  const late = (set: RuleSet): readonly Receiver[] =>
    slots.filter(({ worker, state }) => state !== 'dead' && numbers.get(worker) !== set.number);
  const untilInForce = async (set: RuleSet): Promise<void> => {
    const wait = { isOver: false };
    const timer = setTimeout(() => {
      wait.isOver = true;
      settle();
    }, IN_FORCE_WITHIN_MS);
    while (!wait.isOver && current === set && late(set).length > 0)
      await new Promise<void>((resolve) => (settle = resolve));
    clearTimeout(timer);
    if (current !== set) return;
    for (const { worker } of late(set)) {
      overdue.add(worker);
      logger.warn('a worker has not loaded the rules in time and is unhealthy until it has', {
        worker,
      });
    }
    if (overdue.size > 0) onOverdue();
  };
  const rollBack = (poison: RuleSet, kept: RuleSet): void => {
    put(kept.load);
    before = undefined;
    logger.error(TAKEN_BACK, { deaths: poison.deaths });
    if (poison.isEmitted) {
      onTakenBack();
      takenBack.post(kept.load);
    }
    settle();
  };
  const bring = async (load: LoadedRules<Rules>): Promise<LoadResult<Rules>> => {
    const set = put(load);
    await untilInForce(set);
    if (current !== set) return refused(load);
    set.isEmitted = true;
    return load;
  };
  const relayed$ = goodAndBad$.pipe(
    inOrder((load) => (load.ok ? bring(load) : Promise.resolve(load))),
  );
  return {
    /** The same loads; a good one is emitted once all workers have it in force, or after IN_FORCE_WITHIN_MS. */
    loads$: merge(relayed$, takenBack.messages$),
    /** Sends the current rules to a worker that has just come up. */
    greet(slot: Receiver) {
      if (current !== undefined) send(slot, current);
    },
    inForce(worker: number, number: number) {
      numbers.set(worker, number);
      if (number === lastNumber && overdue.delete(worker)) onOverdue();
      settle();
    },
    /** A worker died. */
    ended(worker: number) {
      numbers.delete(worker);
      overdue.delete(worker);
      const tookMs = sentMs.get(worker);
      sentMs.delete(worker);
      const nowMs = monotonicMs();
      const isSuspect = tookMs !== undefined && nowMs - tookMs < POISON_MS;
      if (current !== undefined && isSuspect) {
        current.deaths = nowMs - current.lastDeathMs < FORGET_DEATHS_MS ? current.deaths + 1 : 1;
        current.lastDeathMs = nowMs;
        if (current.deaths >= POISON_DEATHS && before !== undefined) rollBack(current, before);
      }
      settle();
    },
    /** Whether a worker accepts calls although it was too slow to apply the current rules. */
    isOverdue: (worker: number) => overdue.has(worker),
  };
}

/** The result of a load during which workers crashed before it was in force everywhere. */
function refused({
  version,
  problems,
  unlisted,
  durationMs,
}: LoadedRules<Rules>): LoadResult<Rules> {
  const died: RuleProblem = {
    severity: 'error',
    class: 'load-failed',
    file: '',
    at: WHOLE,
    message: 'workers crashed after loading these rules',
  };
  return {
    ok: false,
    ...(version !== undefined && { version }),
    problems: [...problems, died],
    unlisted,
    durationMs,
  };
}
