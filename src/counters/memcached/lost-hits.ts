import type { StoreError } from '../../core/errors';
import type { Count } from '../count';
import type { MemcachedEvent } from './options';

/** Interval for reporting that hits could not be added. */
const REPORT_EVERY_MS = 1_000;

/** Events of one connection: the first loss at once, then at most one per second with all hits lost since. */
export function createLostHits(
  store: string,
  onEvent: ((event: MemcachedEvent) => void) | undefined,
) {
  let hits = 0;
  let reason = '';
  let timer: NodeJS.Timeout | undefined;
  let isFailing = false;

  const tellOfEnd = (): void => onEvent?.({ kind: 'added-again', store });
  const report = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (hits === 0) return;
    onEvent?.({ kind: 'not-added', store, reason, hits });
    hits = 0;
    if (!isFailing) tellOfEnd();
    timer = setTimeout(report, REPORT_EVERY_MS).unref();
  };
  return {
    lost: ({ message }: StoreError, by: Count) => {
      hits += Math.abs(Number(by));
      reason = message;
      isFailing = true;
      if (timer === undefined) report();
    },
    added: () => {
      if (!isFailing) return;
      isFailing = false;
      if (hits === 0) tellOfEnd();
    },
    /** Reports what was not reported yet. */
    close() {
      report();
      clearTimeout(timer);
    },
  };
}
