import { backoffDelay, type BackoffPolicy } from '../../../streams';

export interface NackBackoffDeps {
  readonly backoff: BackoffPolicy;
  readonly random: () => number;
}

export function createNackBackoff({ backoff, random }: NackBackoffDeps) {
  let refused: string | undefined;
  let repeats = 0;
  return {
    /** Whether this was refused last; the content is only computed if something was. */
    isRepeat: (content: () => string) => refused !== undefined && content() === refused,
    /** Notes a refusal and returns for how many milliseconds to delay its NACK: 0 the first time. */
    refuse(content: string) {
      if (content !== refused) {
        refused = content;
        repeats = 0;
        return 0;
      }
      repeats += 1;
      return Math.min(backoffDelay(backoff, repeats, random), backoff.maxMs);
    },
    accept() {
      refused = undefined;
    },
  };
}

/** Remembers the last refusal, so that a server that sends the same again and again is slowed down. */
export type NackBackoff = ReturnType<typeof createNackBackoff>;
