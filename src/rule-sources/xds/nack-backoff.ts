import { backoffDelay, type BackoffPolicy } from '../../../streams';

export interface NackBackoffDeps {
  readonly backoff: BackoffPolicy;
  readonly random: () => number;
}

export function createNackBackoff({ backoff, random }: NackBackoffDeps) {
  let refused: string | undefined;
  let repeats = 0;
  return {
    /** Whether this is what was refused last; the content is asked for only if something was. */
    isRepeat: (content: () => string) => refused !== undefined && content() === refused,
    /** Notes a refusal and answers for how many milliseconds to hold its NACK back: 0 the first time. */
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

/** Remembers what was refused last, so that a server which sends it again and again is slowed down. */
export type NackBackoff = ReturnType<typeof createNackBackoff>;
