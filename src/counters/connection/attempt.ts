/** How long opening a connection may take, and what ends it early. */
export interface Attempt {
  /** Connecting and the handshake take no longer. */
  readonly attemptMs: number;
  readonly signal: AbortSignal;
}

export interface AttemptDeps {
  /** Makes the task reject, for this reason. */
  readonly giveUp: (reason: string) => void;
  /** What may be the cause when no answer comes. */
  readonly hint?: () => string;
}

/** Does what opening a connection takes; gives up when the time is over or the signal is aborted. */
export async function withinAttempt<T>(
  { attemptMs, signal }: Attempt,
  { giveUp, hint = () => '' }: AttemptDeps,
  task: () => Promise<T>,
): Promise<T> {
  const onLate = (): void => {
    giveUp(`no answer within ${String(attemptMs)} ms${hint()}`);
  };
  const onAbort = (): void => {
    giveUp('the service is stopping');
  };
  const timer = setTimeout(onLate, attemptMs);
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    return await task();
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}
