import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/ports';
import { until, type Steps } from '../../core/steps';
import { toReason } from '../../platform/errors';
import type { ProfileFile, ProfileRequest } from './profiles/profiles';
import type * as Profiles from './profiles/profiles';
import { serveWork, sendText } from './work/serve-work';
import type { WorkScheduler } from './work/work-scheduler';

const DEFAULT_SECONDS: Readonly<Record<ProfileRequest['kind'], number>> = { profile: 30, heap: 10 };
const MAX_SECONDS = 60;
type Take = (request: ProfileRequest, signal: AbortSignal) => Steps<ProfileFile>;

/** Profiles of other processes of this service, `?worker=1` to `?worker=<count>`. */
export interface WorkerProfiles {
  readonly count: number;
  /** Rejects when the worker ends before its profile, or does not run. */
  take(worker: number, request: ProfileRequest, signal: AbortSignal): Promise<ProfileFile>;
}

export interface ProfileEndpointDeps {
  readonly clock: Clock;
  readonly work: WorkScheduler;
  /** Undefined where this process does all the work. */
  readonly workers?: WorkerProfiles | undefined;
}

/** Takes one profile at a time; a second one is answered 409. */
export function createProfileEndpoint({ clock, work, workers }: ProfileEndpointDeps) {
  let running: AbortController | undefined;

  const takerOf = (query: URLSearchParams): Take | string => {
    const written = query.get('worker');
    if (workers === undefined || written === null)
      return (request, signal) => takeOwnProfile(request, signal, clock);
    const worker = Number(written);
    if (Number.isInteger(worker) && worker >= 1 && worker <= workers.count)
      // Not before the first step, which handles the answer: an unhandled rejection would end the service.
      return function* (request, signal) {
        return yield* until(workers.take(worker, request, signal));
      };
    return `worker is ${JSON.stringify(written)}, expected a whole number from 1 to ${String(workers.count)}`;
  };
  const end = (abort: AbortController): void => {
    abort.abort();
    if (running === abort) running = undefined;
  };

  return {
    serve(kind: ProfileRequest['kind'], query: URLSearchParams, response: ServerResponse) {
      const request = parseProfileRequest(kind, query);
      if (typeof request === 'string') {
        sendText(response, 400, `${request}\n`);
        return;
      }
      const take = takerOf(query);
      if (typeof take === 'string') {
        sendText(response, 400, `${take}\n`);
        return;
      }
      if (running !== undefined) {
        sendText(response, 409, 'a profile is being taken already, try again later\n');
        return;
      }
      const abort = new AbortController();
      running = abort;
      // A client that hangs up needs no profile any more.
      response.once('close', () => {
        end(abort);
      });
      serveWork(work, response, {
        run: () => sendProfile(response, take(request, abort.signal)),
        failed(error) {
          if (abort.signal.aborted) sendText(response, 503, 'the service is stopping\n');
          else sendText(response, 500, `no profile: ${toReason(error)}\n`);
        },
        refused(error) {
          end(abort);
          sendText(response, 429, `${error}\n`);
        },
      });
    },
    /** Ends the running profile. */
    close() {
      running?.abort();
    },
  };
}

function* sendProfile(response: ServerResponse, taking: Steps<ProfileFile>): Steps<void> {
  const { name, contentType, bytes } = yield* taking;
  response.writeHead(200, {
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Length': bytes.length,
  });
  response.end(bytes);
}

/** The request, or a sentence with its mistake. */
export function parseProfileRequest(
  kind: ProfileRequest['kind'],
  query: URLSearchParams,
): ProfileRequest | string {
  const written = query.get('seconds');
  const seconds = written === null ? DEFAULT_SECONDS[kind] : Number(written);
  if (written === '' || !Number.isInteger(seconds) || seconds < 1 || seconds > MAX_SECONDS) {
    return `seconds is ${JSON.stringify(written)}, expected a whole number from 1 to ${String(MAX_SECONDS)}`;
  }
  const format = query.get('format') ?? 'pprof';
  if (format !== 'pprof' && format !== 'v8') {
    return `format is ${JSON.stringify(format)}, expected pprof or v8`;
  }
  return { kind, seconds, format, collect: query.get('gc') === '1' };
}

/** Takes a profile of this process; throws when it is aborted. The code is loaded with the first profile. */
export const takeOwnProfile: typeof Profiles.takeProfile = (request, signal, clock) => {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded with the first profile: a start takes no time and memory for it
  const { takeProfile } = require('./profiles/profiles') as typeof Profiles;
  return takeProfile(request, signal, clock);
};
