export interface ReplyDeadlineDeps {
  readonly monotonicMs: () => number;
  /** When the oldest pending call began; undefined when none is pending. */
  readonly oldestSinceMs: () => number | undefined;
  /** The oldest call has been pending for `timeoutMs`. */
  readonly onTimeout: () => void;
}

/** Watches, with one timer, how long the oldest pending call has waited. */
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
    /** A call begins to wait. */
    watch() {
      if (timer === undefined && !isStopped) checkIn(timeoutMs);
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
