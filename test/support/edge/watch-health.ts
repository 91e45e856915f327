import { setTimeout as delay } from 'node:timers/promises';
import type { Service } from './service';

/** Asks `/healthcheck` again and again; ends with the longest time until an answer. */
export function watchHealth({ http }: Service): () => Promise<number> {
  const over = new AbortController();
  const watching = (async () => {
    let worstMs = 0;
    while (!over.signal.aborted) {
      const startMs = performance.now();
      const { status } = await fetch(`${http}/healthcheck`);
      worstMs = Math.max(worstMs, performance.now() - startMs);
      expect(status).toBe(200);
      await delay(20);
    }
    return worstMs;
  })();
  return () => {
    over.abort();
    return watching;
  };
}
