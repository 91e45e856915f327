import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/ports';
import { toReason } from '../../platform/errors';
import type { ProfileFile, ProfileRequest } from './profiles/profiles';
import type * as Profiles from './profiles/profiles';

const DEFAULT_SECONDS: Readonly<Record<ProfileRequest['kind'], number>> = { profile: 30, heap: 10 };
const MAX_SECONDS = 60;
type Take = (request: ProfileRequest, signal: AbortSignal) => Promise<ProfileFile>;

const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' };

/** Profiles of other processes of this service, `?worker=1` to `?worker=<count>`. */
export interface WorkerProfiles {
  readonly count: number;
  /** Rejects when the worker ends before its profile, or does not run at all. */
  take(worker: number, request: ProfileRequest, signal: AbortSignal): Promise<ProfileFile>;
}

/** Takes one profile at a time; a second one is answered 409. */
export interface ProfileEndpoint {
  serve(kind: ProfileRequest['kind'], query: URLSearchParams, response: ServerResponse): void;
  /** Ends the profile that is running. */
  close(): void;
}

/** `workers`: undefined where this process does all the work. */
export function createProfileEndpoint(clock: Clock, workers?: WorkerProfiles): ProfileEndpoint {
  let running: AbortController | undefined;

  const takerOf = (query: URLSearchParams): Take | string => {
    const written = query.get('worker');
    if (workers === undefined || written === null)
      return (request, signal) => takeOwnProfile(request, signal, clock);
    const worker = Number(written);
    if (Number.isInteger(worker) && worker >= 1 && worker <= workers.count)
      return (request, signal) => workers.take(worker, request, signal);
    return `worker is ${JSON.stringify(written)}, expected a whole number from 1 to ${String(workers.count)}`;
  };
  const run = async (
    take: (signal: AbortSignal) => Promise<ProfileFile>,
    response: ServerResponse,
    abort: AbortController,
  ) => {
    try {
      const file = await take(abort.signal);
      response.writeHead(200, {
        'Content-Type': file.contentType,
        'Content-Disposition': `attachment; filename="${file.name}"`,
        'Content-Length': file.bytes.length,
      });
      response.end(file.bytes);
    } catch (error) {
      const reason = toReason(error);
      const isStopped = abort.signal.aborted;
      response.writeHead(isStopped ? 503 : 500, TEXT);
      response.end(isStopped ? 'the service is stopping\n' : `no profile: ${reason}\n`);
    } finally {
      running = undefined;
    }
  };

  return {
    serve(kind, query, response) {
      const request = parseProfileRequest(kind, query);
      if (typeof request === 'string') {
        refuse(response, 400, request);
        return;
      }
      const take = takerOf(query);
      if (typeof take === 'string') {
        refuse(response, 400, take);
        return;
      }
      if (running !== undefined) {
        refuse(response, 409, 'a profile is being taken already, try again later');
        return;
      }
      const abort = new AbortController();
      running = abort;
      // A client that hangs up needs no profile any more.
      response.once('close', () => {
        abort.abort();
      });
      void run((signal) => take(request, signal), response, abort);
    },
    close() {
      running?.abort();
    },
  };
}

function refuse(response: ServerResponse, status: number, problem: string): void {
  response.writeHead(status, TEXT).end(`${problem}\n`);
}

/** The request, or a sentence about what is wrong with it. */
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

/** Takes a profile of this process; rejects when it is aborted. The code is loaded with the first profile, not at the start. */
export const takeOwnProfile: typeof Profiles.takeProfile = (request, signal, clock) => {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- loaded with the first profile: a start takes no time and memory for it
  const { takeProfile } = require('./profiles/profiles') as typeof Profiles;
  return takeProfile(request, signal, clock);
};
