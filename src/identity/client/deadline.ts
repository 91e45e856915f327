/** Ends a call when its time is over or the caller wants it. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Why it ended; undefined: it did not. */
  readonly ended: 'timeout' | 'aborted' | undefined;
  /** Lets go of timer and listener. */
  clear(): void;
}

export function createDeadline(timeoutMs: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let ended: Deadline['ended'];
  const end = (why: 'timeout' | 'aborted'): void => {
    ended ??= why;
    controller.abort();
  };
  const abort = (): void => {
    end('aborted');
  };
  const timer = setTimeout(end, timeoutMs, 'timeout');
  if (outer?.aborted === true) abort();
  else outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    get ended() {
      return ended;
    },
    clear() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}
