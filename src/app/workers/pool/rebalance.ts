import { tap, timer } from 'rxjs';
import { createStopSignal } from '../../../../streams';
import type { Logger } from '../../../platform/logger';
import type { Slot } from './slot';

/** Connections that were asked to leave have reconnected by then, or stay away. */
const LOOK_MS = 2_000;
/** Workers that differ by less are even: otherwise ordinary fluctuation would cause requests to leave all the time. */
const EVEN_WITHIN = 0.1;
/** Interval of log lines about moving connections. */
const LOG_EACH_MS = 60_000;

/**
 * Evens out the connections of the workers: after a death, when the clients of the dead worker reconnected to others before its
 * successor was there, or when many connected at one moment and fast workers got more. Crowded workers ask their youngest
 * connections to leave, and accept none while another has too few.
 */
export function createRebalance(
  slots: readonly Slot[],
  { logger, monotonicMs }: { readonly logger: Logger; readonly monotonicMs: () => number },
) {
  const counts = new Map<number, number>();
  /** Connection cap per worker. */
  const capped = new Map<number, number>();
  let asked: readonly Slot[] = [];
  let loggedMs = -Infinity;
  const closing = createStopSignal();

  const cap = (slot: Slot, most: number | undefined): void => {
    if (most === undefined) {
      if (!capped.delete(slot.worker)) return;
    } else capped.set(slot.worker, most);
    slot.send({ kind: 'keep-connections', most });
  };
  const uncapAll = (): void => {
    for (const slot of slots) cap(slot, undefined);
  };
  const log = (leaving: number): void => {
    if (monotonicMs() - loggedMs < LOG_EACH_MS) return;
    loggedMs = monotonicMs();
    logger.info('asking clients to reconnect, to even out connections between workers', {
      leaving,
    });
  };
  const decide = (): void => {
    const shares = sharesOf(asked.map(({ worker }) => [worker, counts.get(worker) ?? 0]));
    const leaving = shares.reduce((sum, { open, share }) => sum + Math.max(open - share, 0), 0);
    // A refused connection must find a worker with room; without one, the primary would offer it round and round.
    const isUneven = shares.some(({ open, share }) => open - share > share * EVEN_WITHIN);
    for (const { worker, open, share } of shares) {
      const slot = slots[worker - 1];
      if (slot !== undefined) cap(slot, isUneven && open >= share ? share : undefined);
    }
    if (isUneven) log(leaving);
  };
  const check = (): void => {
    // A worker that did not answer may be the one with room.
    if (asked.length > 0) uncapAll();
    counts.clear();
    asked = slots.filter(({ state }) => state === 'up');
    for (const slot of asked) slot.send({ kind: 'count-connections' });
  };
  return {
    /** Checks the workers until `close`; emits nothing useful. */
    run$: timer(LOOK_MS, LOOK_MS).pipe(tap(check), closing.until()),
    /** A worker's answer to `count-connections`. */
    counted(worker: number, open: number) {
      counts.set(worker, open);
      if (asked.length > 1 && asked.every((slot) => counts.has(slot.worker))) {
        decide();
        asked = [];
      }
    },
    ended(worker: number) {
      capped.delete(worker);
      asked = [];
      // It may have been the one that had room.
      uncapAll();
    },
    close: closing.stop,
  };
}

/** Each worker's even share: those with the most connections keep the odd ones. */
export function sharesOf(counts: readonly (readonly [worker: number, open: number])[]) {
  const total = counts.reduce((sum, [, open]) => sum + open, 0);
  const least = Math.floor(total / counts.length);
  const odd = total - least * counts.length;
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([worker, open], i) => ({ worker, open, share: i < odd ? least + 1 : least }));
}
