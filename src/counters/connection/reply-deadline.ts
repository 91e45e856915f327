export interface ReplyDeadlineDeps {
  readonly monotonicMs: () => number;
  /** When the oldest that still waits began to; undefined when nothing waits. */
  readonly oldestSinceMs: () => number | undefined;
  /** The oldest has waited for `timeoutMs`. */
  readonly onTimeout: () => void;
}

/** Watches, by one timer, how long the oldest of those that wait for an answer has waited. */
export function createReplyDeadline(deps: ReplyDeadlineDeps, timeoutMs: number) {
  const { monotonicMs, oldestSinceMs, onTimeout } = deps;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  const checkIn = (delayMs: number): void => {
    timer = setTimeout(check, delayMs, checkAgain).unref();
  };
  // Answers that came while this process was busy are still unread in the socket: they are read first.
  const checkAgain = (): void => {
    setImmediate(check, onTimeout);
  };
  const check = (onLate: () => void): void => {
    timer = undefined;
    const sinceMs = oldestSinceMs();
    if (isStopped || sinceMs === undefined) return;
    const leftMs = sinceMs + timeoutMs - monotonicMs();
    if (leftMs > 0) checkIn(Math.ceil(leftMs));
    else onLate();
  };

  return {
    /** Something begins to wait. */
    watch() {
      if (timer === undefined && !isStopped) checkIn(timeoutMs);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
