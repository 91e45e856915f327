import type { Lapse } from '../../core/budgets/advance';
import type { BudgetState } from '../../core/kinds/kind';
import type { ListedReservation } from '../../core/ports';
import { toKeyError } from '../count';
import { READ_OPEN } from './budgets/operator-scripts';
import type { RedisCounters } from './options';

type Asking = Pick<RedisCounters, 'ask'>;

/** A counter with reservations as it stands. */
export interface OpenReading {
  /** Undefined: there is no counter. */
  readonly record: string | undefined;
  readonly lifeMs: number;
  readonly nowSeconds: number;
  /** As the last call left them. */
  readonly sums: Pick<BudgetState, 'held' | 'open'>;
  /** What has ended since, as far as the next call would end it; in the order of the ends. */
  readonly lapses: readonly Lapse[];
  /** Those whose leases last, the first to end first. */
  readonly open: readonly ListedReservation[];
}

/** Reads a counter with reservations, and at most so many of these. */
export async function readOpen(counters: Asking, key: string, most: number): Promise<OpenReading> {
  const [answer] = await counters.ask(key, [['eval', READ_OPEN, '1', key, String(most)]]);
  if (!Array.isArray(answer) || answer.length % 3 !== 0)
    throw toKeyError('what is open under this key was not written by budgets');
  const [record, lifeMs, seconds, micros, held, open, ...items] = answer as readonly unknown[];
  const nowSeconds = Number(seconds) + Number(micros) / 1_000_000;
  const nowMs = Math.floor(nowSeconds * 1_000);
  const listed = items.flatMap((id, at): readonly ListedReservation[] => {
    if (at % 3 > 0) return [];
    return [{ id: String(id), hits: Number(items[at + 1]), endsInMs: Number(items[at + 2]) }];
  });
  listed.sort((a, b) => a.endsInMs - b.endsInMs);
  const lapsed = listed.filter(({ endsInMs }) => endsInMs <= 0);
  return {
    record: typeof record === 'string' ? record : undefined,
    lifeMs: Number(lifeMs),
    nowSeconds,
    sums: { held: Number(held), open: Number(open) },
    lapses: lapsed.map(({ hits, endsInMs }) => ({ hits, endMs: nowMs + endsInMs })),
    open: listed.slice(lapsed.length, lapsed.length + most),
  };
}

export async function listOpen(
  counters: Asking,
  key: string,
  most: number,
): Promise<readonly ListedReservation[]> {
  return (await readOpen(counters, key, most)).open;
}
