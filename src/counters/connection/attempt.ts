/** How long opening a connection may take, and what aborts it. */
export interface Attempt {
  /** Limit for connecting and the handshake together. */
  readonly attemptMs: number;
  readonly signal: AbortSignal;
}

export interface AttemptDeps {
  /** Rejects the task, with this reason. */
  readonly giveUp: (reason: string) => void;
  /** A possible cause, for the message of a time-out. */
  readonly hint?: () => string;
}

/** Runs the steps of opening a connection; gives up on the time-out or when the signal is aborted. */
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
