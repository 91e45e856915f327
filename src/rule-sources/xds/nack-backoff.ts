import { backoffDelay, type BackoffPolicy } from '../../../streams';

/** Remembers what was refused last, so that a server which sends it again and again is slowed down. */
export interface NackBackoff {
  /** Whether this is what was refused last; the content is asked for only if something was. */
  isRepeat(content: () => string): boolean;
  /** Notes a refusal and answers for how many milliseconds to hold its NACK back: 0 the first time. */
  refuse(content: string): number;
  accept(): void;
}

export interface NackBackoffDeps {
  readonly backoff: BackoffPolicy;
  readonly random: () => number;
}

export function createNackBackoff({ backoff, random }: NackBackoffDeps): NackBackoff {
  let refused: string | undefined;
  let repeats = 0;
  return {
    isRepeat: (content) => refused !== undefined && content() === refused,
    refuse(content) {
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
