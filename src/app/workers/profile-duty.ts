import type { Clock } from '../../core/ports';
import { toReason } from '../../platform/errors';
import { takeOwnProfile } from '../../transport/debug/profile-endpoint';
import type { ProfileRequest } from '../../transport/debug/profiles/profiles';
import type { FromWorker } from './messages';

/** Takes profiles of this worker for its owner; each request ends the profile before it. */
export function createProfileDuty(
  send: (message: FromWorker) => unknown,
  clock: Clock,
): (id: number, request: ProfileRequest | undefined) => void {
  let running = new AbortController();
  return (id, request) => {
    running.abort();
    if (request === undefined) return;
    running = new AbortController();
    void takeOwnProfile(request, running.signal, clock)
      .catch(toReason)
      .then((result) => send({ kind: 'profile', id, result }));
  };
}
