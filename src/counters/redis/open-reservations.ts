import type { Lapse } from '../../core/budgets/advance';
import { MAX_LAPSES, type BudgetLimiter } from '../../core/budgets/budget';
import type { BudgetState, Limiter } from '../../core/kinds/kind';
import type { CounterPlace, ListedReservation } from '../../core/ports';
import { hasReservations } from '../../core/rules/compile-budget';
import { toKeyError } from '../count';
import { READ_COUNTER } from './lua/scripts';
import type { RedisCounters } from './options';

type CommandSender = Pick<RedisCounters, 'send'>;

/** The reading of a counter of several limits or with reservations. */
export interface BudgetReading {
  /** Undefined: there is no counter. */
  readonly record: string | undefined;
  readonly lifeMs: number;
  readonly nowSeconds: number;
  /** As the last call left them. */
  readonly sums: Pick<BudgetState, 'held' | 'open'>;
  /** Leases that have expired since, as far as the next call would expire them; in the order of their expiry. */
  readonly lapses: readonly Lapse[];
  /** Those with unexpired leases, the first to expire first. */
  readonly open: readonly ListedReservation[];
}

/** Calls per counter at most, see `READ_COUNTER`: more numbers than a counter may have open. */
const MAX_CALLS = 64;

/** Reads a counter with a budget, and at most `most` of its open reservations. */
export async function readBudget(
  counters: CommandSender,
  key: string,
  limiter: BudgetLimiter,
  most: number,
): Promise<BudgetReading> {
  const leaseMs = limiter.budget.reserve?.leaseMs ?? 0;
  let cursor: readonly unknown[] = [0, 0, MAX_LAPSES];
  let first: readonly unknown[] = [];
  const listed: ListedReservation[] = [];
  for (let calls = 0; calls < MAX_CALLS; calls += 1) {
    const args = [redisKindOf(limiter), most, leaseMs, ...cursor].map(String);
    const [answer] = await counters.send(key, [['eval', READ_COUNTER, '1', key, ...args]]);
    if (!Array.isArray(answer) || answer.length % 3 !== 0)
      throw toKeyError('what is open under this key was not written by budgets');
    if (calls === 0) first = answer;
    listed.push(...toListed(answer.slice(9)));
    cursor = answer.slice(6, 9);
    if (Number(cursor[0]) === 0) break;
  }
  const [record, lifeMs, seconds, micros, held, open] = first;
  const nowSeconds = Number(seconds) + Number(micros) / 1_000_000;
  const nowMs = Math.floor(nowSeconds * 1_000);
  listed.sort((a, b) => a.endsInMs - b.endsInMs);
  const lapsed = listed.filter(({ id }) => id === '');
  const lasting = listed.filter(({ id }) => id !== '');
  return {
    record: typeof record === 'string' ? record : undefined,
    lifeMs: Number(lifeMs),
    nowSeconds,
    sums: { held: Number(held), open: Number(open) },
    lapses: lapsed.map(({ hits, endsInMs }) => ({ hits, endMs: nowMs + endsInMs })),
    open: lasting.slice(0, most),
  };
}

function toListed(items: readonly unknown[]): readonly ListedReservation[] {
  return items.flatMap((id, at): readonly ListedReservation[] => {
    if (at % 3 > 0) return [];
    return [{ id: String(id), hits: Number(items[at + 1]), endsInMs: Number(items[at + 2]) }];
  });
}

export async function listOpen(
  counters: CommandSender,
  { key, rule }: Pick<CounterPlace, 'key' | 'rule'>,
  most: number,
): Promise<readonly ListedReservation[]> {
  return (await readBudget(counters, key, rule.limiter as Limiter & BudgetLimiter, most)).open;
}

/** What Redis holds for a counter with a budget, to the scripts of operators. */
export function redisKindOf(limiter: Limiter): 'hash' | 'string' {
  return hasReservations(limiter) ? 'hash' : 'string';
}
