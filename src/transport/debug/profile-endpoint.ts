import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/ports';
import { toReason } from '../../platform/errors';
import type { ProfileRequest } from './profiles/profiles';
import type * as Profiles from './profiles/profiles';

const DEFAULT_SECONDS: Readonly<Record<ProfileRequest['kind'], number>> = { profile: 30, heap: 10 };
const MAX_SECONDS = 60;
const TEXT = { 'Content-Type': 'text/plain; charset=utf-8' };

/** Takes one profile at a time; a second one is answered 409. */
export interface ProfileEndpoint {
  serve(kind: ProfileRequest['kind'], query: URLSearchParams, response: ServerResponse): void;
  /** Ends the profile that is running. */
  close(): void;
}

export function createProfileEndpoint(clock: Clock): ProfileEndpoint {
  let running: AbortController | undefined;

  const run = async (request: ProfileRequest, response: ServerResponse, abort: AbortController) => {
    try {
      const file = await loadProfiles().takeProfile(request, abort.signal, clock);
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
        response.writeHead(400, TEXT).end(`${request}\n`);
        return;
      }
      if (running !== undefined) {
        response.writeHead(409, TEXT).end('a profile is being taken already, try again later\n');
        return;
      }
      const abort = new AbortController();
      running = abort;
      // A client that hangs up needs no profile any more.
      response.once('close', () => {
        abort.abort();
      });
      void run(request, response, abort);
    },
    close() {
      running?.abort();
    },
  };
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

/** Loaded with the first profile, not at the start. */
function loadProfiles(): typeof Profiles {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose: start-up time
  return require('./profiles/profiles') as typeof Profiles;
}
