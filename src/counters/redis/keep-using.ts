import { setTimeout as pause } from 'node:timers/promises';
import { StoreError } from '../../core/errors';
import { type Random } from '../../core/ports';
import { backoffDelay } from '../../../streams';
import { toReason } from './store-errors';

export interface KeepUsingOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** How long the first success may take; 0: for ever. */
  readonly maxElapsedMs: number;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onFailure: (reason: string, failures: number, nextAttemptMs: number) => void;
}

const BACKOFF_FACTOR = 2;

/** Keeps the instances of a service from connecting in step. */
const BACKOFF_JITTER = 0.1;

/** What was good for this long needs no pause before the next attempt. */
const STEADY_MS = 1_000;

/**
 * Uses a connection again and again until the signal says stop. `use` gets the number of failures
 * since the last good connection and answers for how many milliseconds its own was good; it rejects
 * when it got none. Rejects when the first one has not come about within `maxElapsedMs`.
 */
export async function keepUsing(
  use: (failures: number) => Promise<number>,
  options: KeepUsingOptions,
): Promise<void> {
  const { initialMs, maxMs, maxElapsedMs, monotonicMs, random, signal, onFailure } = options;
  const policy = { initialMs, maxMs, factor: BACKOFF_FACTOR, jitter: BACKOFF_JITTER };
  const startedMs = monotonicMs();
  let canGiveUp = maxElapsedMs > 0;
  let failures = 0;

  const attempt = async (): Promise<number> => {
    try {
      failures = (await use(failures)) >= STEADY_MS ? 0 : failures + 1;
      canGiveUp = false;
      return failures === 0 ? 0 : backoffDelay(policy, failures, random);
    } catch (error) {
      failures += 1;
      const nextAttemptMs = Math.round(backoffDelay(policy, failures, random));
      if (canGiveUp && !signal.aborted && monotonicMs() + nextAttemptMs - startedMs > maxElapsedMs)
        throw error;
      if (!signal.aborted) onFailure(toReason(error), failures, nextAttemptMs);
      return nextAttemptMs;
    }
  };

  while (!signal.aborted) {
    const pauseMs = await attempt();
    await pause(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

export function toGivenUpError(store: string, maxElapsedMs: number, cause: unknown): StoreError {
  const message = `redis ${store} could not be reached within ${String(maxElapsedMs)} ms: ${toReason(cause)}`;
  return new StoreError('store_unavailable', message);
}
