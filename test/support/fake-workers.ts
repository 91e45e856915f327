import { interval, type Subscription } from 'rxjs';
import type { FromWorker, ToWorker } from '../../src/app/workers/messages';
import type { Fork, WorkerEnd } from '../../src/app/workers/pool/slot';

/** A worker process that does only what a test says. */
export interface FakeWorker {
  readonly worker: number;
  readonly received: ToWorker[];
  readonly signals: NodeJS.Signals[];
  say(message: FromWorker): void;
  end(end?: Partial<WorkerEnd>): void;
}

/** Forks that are recorded, in the order in which they were started. `isAlive`: they speak each second once they have begun. */
export function createFakeWorkers({ isAlive = false } = {}): {
  readonly fork: Fork;
  readonly started: FakeWorker[];
} {
  const started: FakeWorker[] = [];
  return {
    started,
    fork(worker, on) {
      let beats: Subscription | undefined;
      const one: FakeWorker = {
        worker,
        received: [],
        signals: [],
        say(message) {
          if (isAlive)
            beats ??= interval(1_000).subscribe(() => {
              on.message({ kind: 'collected', id: 0 });
            });
          on.message(message);
        },
        end(end) {
          beats?.unsubscribe();
          on.end({ code: null, signal: null, ...end });
        },
      };
      started.push(one);
      return {
        send: (message) => one.received.push(message),
        kill(signal) {
          one.signals.push(signal);
          if (signal === 'SIGKILL') one.end({ signal });
        },
      };
    },
  };
}
