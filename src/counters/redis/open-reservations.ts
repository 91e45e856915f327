import type { Lapse } from '../../core/budgets/advance';
import { isBudgetLimiter, MAX_LAPSES } from '../../core/budgets/budget';
import type { BudgetState, Limiter } from '../../core/kinds/kind';
import type { CounterPlace, ListedReservation } from '../../core/ports';
import { toKeyError } from '../count';
import { READ_OPEN } from './lua/scripts';
import type { RedisCounters } from './options';

type CommandSender = Pick<RedisCounters, 'send'>;

/** The reading of a counter with reservations. */
export interface OpenReading {
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

/** Calls per counter at most, see `READ_OPEN`: more numbers than a counter may have open. */
const MAX_CALLS = 64;

/** Reads a counter with reservations, which have leases of `leaseMs`, and at most `most` of these. */
export async function readOpen(
  counters: CommandSender,
  key: string,
  leaseMs: number,
  most: number,
): Promise<OpenReading> {
  let cursor: readonly unknown[] = [0, 0, MAX_LAPSES];
  let first: readonly unknown[] = [];
  const listed: ListedReservation[] = [];
  for (let calls = 0; calls < MAX_CALLS; calls += 1) {
    const args = [most, leaseMs, ...cursor].map(String);
    const [answer] = await counters.send(key, [['eval', READ_OPEN, '1', key, ...args]]);
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
  return (await readOpen(counters, key, leaseMsOf(rule.limiter), most)).open;
}

/** 0: the rule has no reservations. */
export function leaseMsOf(limiter: Limiter): number {
  return isBudgetLimiter(limiter) ? (limiter.budget.reserve?.leaseMs ?? 0) : 0;
}
