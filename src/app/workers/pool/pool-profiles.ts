import type { WorkerProfiles } from '../../../transport/debug/profile-endpoint';
import type { ProfileFile } from '../../../transport/debug/profiles/profiles';
import type { ProfileResult } from '../messages';
import type { Slot } from './slot';

/** Profiles of the workers, one at a time, as the owner gets them. */
export interface PoolProfiles extends WorkerProfiles {
  answered(id: number, result: ProfileResult): void;
  ended(worker: number): void;
}

interface Waiting {
  readonly id: number;
  readonly worker: number;
  readonly settle: (result: ProfileResult) => void;
}

export function createPoolProfiles(slots: readonly Slot[]): PoolProfiles {
  let lastId = 0;
  let waiting: Waiting | undefined;
  return {
    count: slots.length,
    take(worker, request, signal) {
      const slot = slots[worker - 1];
      if (slot?.state !== 'up')
        return Promise.reject(new Error(`worker ${String(worker)} is not running`));
      lastId += 1;
      const id = lastId;
      return new Promise<ProfileFile>((resolve, reject) => {
        const abort = (): void => {
          slot.send({ kind: 'profile', id, request: undefined });
          waiting?.settle('the request was cancelled');
        };
        const settle = (result: ProfileResult): void => {
          waiting = undefined;
          signal.removeEventListener('abort', abort);
          if (typeof result === 'string') reject(new Error(result));
          else resolve(result);
        };
        waiting = { id, worker, settle };
        signal.addEventListener('abort', abort);
        slot.send({ kind: 'profile', id, request });
      });
    },
    answered(id, result) {
      if (waiting?.id === id) waiting.settle(result);
    },
    ended(worker) {
      if (waiting?.worker === worker) waiting.settle(`worker ${String(worker)} ended`);
    },
  };
}
