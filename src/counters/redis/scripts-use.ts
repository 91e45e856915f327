import { createSnapshot, createStopSignal, fromTask, regain } from '../../../streams';
import { type Random } from '../../core/ports';
import { type RedisEvent } from './options';

export interface ScriptsUseDeps {
  readonly store: string;
  readonly random: Random;
  readonly onEvent?: (event: RedisEvent) => void;
  /** Whether a new connection may use scripts now; never rejects. */
  readonly ask: (signal: AbortSignal) => Promise<boolean>;
  /** All connections may use them again. */
  readonly onTaken: () => void;
}

/** The jitter keeps the instances of a service from polling in step. */
const BACKOFF = { initialMs: 1_000, maxMs: 5_000, factor: 2, jitter: 0.1 };

/** Whether one server accepts scripts: after a refusal it is polled, since the cause may pass. */
export function createScriptsUse(deps: ScriptsUseDeps) {
  const { store, random, onEvent, ask, onTaken } = deps;
  const isRefused = createSnapshot(false);
  const stopped = createStopSignal();
  return {
    refused(reason: string) {
      onEvent?.({ kind: 'scripts-refused', store, reason });
      isRefused.set(true);
    },
    /** Polls while it is subscribed to. Completes after `close`. */
    run$: regain({
      isLost$: isRefused.changes$,
      ask: () => fromTask(ask),
      backoff: BACKOFF,
      random,
      onRegained() {
        isRefused.set(false);
        onTaken();
        onEvent?.({ kind: 'scripts-taken', store });
      },
    }).pipe(stopped.until()),
    close() {
      stopped.stop();
      isRefused.close();
    },
  };
}
