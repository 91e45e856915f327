import type { Clock } from '../../../core/ports';
import { toReason } from '../../../platform/errors';
import { takeOwnProfile } from '../../../transport/debug/profile-endpoint';
import { createWorkScheduler } from '../../../transport/debug/work/work-scheduler';
import type { FromWorker, ProfileResult } from '../messages';
import type { WorkerDuties } from './owner-link';

export interface ProfileDutyDeps {
  readonly clock: Clock;
  readonly monotonicMs: () => number;
}

/** Takes profiles of this worker for its owner, beside its decisions; each request ends the previous profile. */
export function createProfileDuty(
  send: (message: FromWorker) => unknown,
  { clock, monotonicMs }: ProfileDutyDeps,
): WorkerDuties['profile'] {
  const work = createWorkScheduler({ monotonicMs });
  let running = new AbortController();
  return ({ id, request }) => {
    running.abort();
    if (request === undefined) return;
    running = new AbortController();
    const { signal } = running;
    const answer = (result: ProfileResult) => send({ kind: 'profile', id, result });
    work.insist({
      *run() {
        answer(yield* takeOwnProfile(request, signal, clock));
      },
      // The owner does not wait for one that it has ended.
      isWanted: () => !signal.aborted,
      failed(error) {
        answer(toReason(error));
      },
    });
  };
}
