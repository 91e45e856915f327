import { setTimeout as delay } from 'node:timers/promises';
import { startStopwatch, type Pid } from './core-time';

export interface EventuallyOptions {
  /** Beyond it the last error is thrown. Where it is no requirement it is only there to end a test that fails. */
  readonly withinMs?: number;
  readonly everyMs?: number;
  /** Who has to do something meanwhile: time in which these wait for a core does not count. */
  readonly of?: readonly Pid[];
}

/**
 * Runs `check` until it stops throwing and answers what it returned. Around real servers only:
 * the wait ends with the condition, never after a guessed time.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = 15_000, everyMs = 10, of = [] }: EventuallyOptions = {},
): Promise<T> {
  const elapsedMs = startStopwatch(...of);
  const startMs = performance.now();
  for (;;) {
    try {
      return await check();
    } catch (error) {
      // To read the stopwatch takes longer than most checks.
      if (performance.now() - startMs >= withinMs && elapsedMs() >= withinMs) throw error;
      await delay(everyMs);
    }
  }
}
