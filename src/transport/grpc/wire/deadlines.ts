import { DEADLINE_STEP_MS } from './limits';

/** One timer for the deadlines of all calls. */
export interface DeadlineTimer {
  /** A deadline that may be the next one. Cheap when it is not. */
  readonly atLatest: (deadlineMs: number, nowMs: number) => void;
  readonly stop: () => void;
}

/** `expire` ends what has expired and answers the next deadline, Infinity when there is none. */
export function createDeadlineTimer(
  nowMs: () => number,
  expire: (nowMs: number) => number,
): DeadlineTimer {
  let wakesAtMs = Infinity;
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearTimeout(timer);
    wakesAtMs = Infinity;
  };
  const wake = () => {
    const now = nowMs();
    wakesAtMs = Infinity;
    atLatest(expire(now), now);
  };
  const atLatest = (deadlineMs: number, now: number) => {
    if (deadlineMs >= wakesAtMs) return;
    clearTimeout(timer);
    const delayMs = Math.max(DEADLINE_STEP_MS, Math.ceil(deadlineMs - now));
    wakesAtMs = now + delayMs;
    // A longer delay than a timer can hold only wakes too early.
    timer = setTimeout(wake, Math.min(delayMs, 0x7fff_ffff)).unref();
  };
  return { atLatest, stop };
}
