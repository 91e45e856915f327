import { setTimeout as delay } from 'node:timers/promises';

/**
 * Runs `check` until it stops throwing and answers what it returned. Around real servers only:
 * the wait ends with the condition, never after a guessed time.
 */
export async function eventually<T>(
  check: () => T | Promise<T>,
  { withinMs = 5_000, everyMs = 10 }: { withinMs?: number; everyMs?: number } = {},
): Promise<T> {
  const giveUpAt = Date.now() + withinMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() >= giveUpAt) throw error;
      await delay(everyMs);
    }
  }
}
