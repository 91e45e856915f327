import type { Logger } from '../../platform/logger/logger';
import type { Slot } from './slot';

/**
 * Evens out the connections after a death: the clients of the worker that died came back to the others before its
 * successor was there. Crowded workers ask the youngest of theirs to leave, and take none while another has too few.
 */
export interface Rebalance {
  /** A worker listens: the first of its place, or a successor, for which the connections are evened out. */
  listens(worker: number): void;
  /** What a worker answered to `count-connections`. */
  counted(worker: number, open: number): void;
  ended(worker: number): void;
  close(): void;
}

/** Clients that lost their connection are back by then. */
const FIRST_MS = 1_000;
/** Connections that were asked to leave have come back by then, or stay away. */
const EACH_MS = 2_000;
const ROUNDS = 5;

export function createRebalance(slots: readonly Slot[], logger: Logger): Rebalance {
  const counts = new Map<number, number>();
  /** Workers that take no more than so many. */
  const capped = new Map<number, number>();
  const known = new Set<number>();
  let asked: readonly Slot[] = [];
  let rounds = 0;
  let timer: NodeJS.Timeout | undefined;

  const cap = (slot: Slot, most: number | undefined): void => {
    if (most === undefined) {
      if (!capped.delete(slot.worker)) return;
    } else capped.set(slot.worker, most);
    slot.send({ kind: 'keep-connections', most });
  };
  const uncapAll = (): void => {
    for (const slot of slots) cap(slot, undefined);
  };
  const decide = (): void => {
    const shares = sharesOf(asked.map(({ worker }) => [worker, counts.get(worker) ?? 0]));
    // Where nobody has room to spare, the primary would offer a connection round and round.
    const hasRoom = shares.some(({ open, share }) => open < share);
    for (const { worker, open, share } of shares) {
      const slot = slots[worker - 1];
      if (slot !== undefined) cap(slot, hasRoom && open >= share ? share : undefined);
    }
    const leaving = shares.reduce((sum, { open, share }) => sum + Math.max(open - share, 0), 0);
    if (leaving > 0) logger.info('asking connections to move to the new worker', { leaving });
  };
  const round = (): void => {
    if (rounds === 0) {
      uncapAll();
      return;
    }
    rounds -= 1;
    counts.clear();
    // Who does not answer may be the one with room.
    if (asked.length > 0) uncapAll();
    asked = slots.filter(({ state }) => state === 'up');
    for (const slot of asked) slot.send({ kind: 'count-connections' });
    timer = setTimeout(round, EACH_MS);
  };
  return {
    listens(worker) {
      if (!known.has(worker)) {
        known.add(worker);
        return;
      }
      clearTimeout(timer);
      rounds = ROUNDS;
      timer = setTimeout(round, FIRST_MS);
    },
    counted(worker, open) {
      counts.set(worker, open);
      if (asked.length > 1 && asked.every((slot) => counts.has(slot.worker))) {
        decide();
        asked = [];
      }
    },
    ended(worker) {
      capped.delete(worker);
      asked = [];
      // It may have been the one that had room.
      uncapAll();
    },
    close() {
      clearTimeout(timer);
    },
  };
}

interface Share {
  readonly worker: number;
  readonly open: number;
  /** What it would have if all were even: those that have most keep the odd ones. */
  readonly share: number;
}

export function sharesOf(
  counts: readonly (readonly [worker: number, open: number])[],
): readonly Share[] {
  const total = counts.reduce((sum, [, open]) => sum + open, 0);
  const least = Math.floor(total / counts.length);
  const odd = total - least * counts.length;
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([worker, open], i) => ({ worker, open, share: i < odd ? least + 1 : least }));
}
