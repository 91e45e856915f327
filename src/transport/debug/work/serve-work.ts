import type { ServerResponse } from 'node:http';
import type { Steps } from '../../../core/steps';
import type { WorkScheduler } from './work-scheduler';

export interface Serving {
  /** Makes the answer and sends it. */
  readonly run: () => Steps<void>;
  /** See Task. */
  readonly isLarge?: boolean | undefined;
  /** There is no answer yet. */
  readonly failed: (error: unknown) => void;
  /** There will be none: status 429, with the header set already. */
  readonly refused: (error: string) => void;
}

/** Begins to answer a call when there is time for it. */
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
