import type { ServerResponse } from 'node:http';
import type { Steps } from '../../../core/steps';
import type { WorkScheduler } from './work-scheduler';

export interface Serving {
  /** Makes the answer and sends it. */
  readonly run: () => Steps<void>;
  /** See Task. */
  readonly isLarge?: boolean | undefined;
  /** Called where no answer was sent yet. */
  readonly failed: (error: unknown) => void;
  /** Called where the task is refused: status 429, with the header already set. */
  readonly refused: (error: string) => void;
}

/** Starts to answer a call when the scheduler admits it. */
export function serveWork(
  work: WorkScheduler,
  response: ServerResponse,
  { run, isLarge = false, failed, refused }: Serving,
): void {
  const retryAfterSeconds = work.begin({
    run,
    isLarge,
    isWanted: () => !response.destroyed,
    failed(error) {
      // A part of an answer must not be taken for the whole.
      if (response.headersSent) response.destroy();
      else failed(error);
    },
  });
  if (retryAfterSeconds === undefined) return;
  const seconds = String(retryAfterSeconds);
  response.setHeader('Retry-After', seconds);
  refused(`operator calls have used their share of the time, try again in ${seconds} s`);
}
