import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '../../core/ports';
import { createHttpListener, type HttpListenerOptions } from '../../platform/http-listener';
import type { Listener } from '../listener';
import { toReason } from '../../platform/errors';
import { ADMIN_PREFIX } from './admin/admin-api';
import { sendAdmin, type AdminRouter } from './admin/admin-router';
import { CHALLENGE, NO_TOKEN, refuseForeign, type CheckToken } from './admin/admit';
import { createHostCheck } from './allowed-host';
import { createDumps, type Dumps } from './dumps';
import { createEventStream, type EventSource, type EventStreamOptions } from './event-stream';
import { INDEX_PAGE, pprofPage } from './pages';
import { createProfileEndpoint, type WorkerProfiles } from './profile-endpoint';
import { createUiPage } from './ui-page';

/** What the pages show; each is asked when its page is. */
export interface DebugDeps {
  /** The rules in force, a line for each limit. */
  readonly dumpRules: () => string;
  /** All statistics as lines of text, in pieces: there may be a million. */
  readonly dumpStats: () => AsyncIterable<string>;
  /** The same as JSON. */
  readonly dumpStatsJson: () => AsyncIterable<string>;
  /** What the dashboard gets. */
  readonly live: EventSource;
  /** Default: EVENT_STREAM_OPTIONS. */
  readonly events?: EventStreamOptions;
  readonly clock: Clock;
  /** Undefined: one process does all the work. */
  readonly workerProfiles?: WorkerProfiles | undefined;
  /** The operator API; undefined: there is none. */
  readonly admin?: AdminRouter | undefined;
  /** Undefined: no token is asked for. */
  readonly checkToken?: CheckToken | undefined;
  /** What `/rlconfig` says of the rules in a header; undefined before the first were loaded. */
  readonly rulesVersion?: () => string | undefined;
}

export interface DebugOptions extends HttpListenerOptions {
  /** Host names that are served beside addresses, localhost and names of one label. */
  readonly allowedHosts: readonly string[];
  /** ADMIN_HOSTS: the same, and their pages may call the operator API. */
  readonly adminHosts?: readonly string[];
  /** ADMIN_PROTECT_ALL. */
  readonly protectAll?: boolean;
}

const PLAIN = 'text/plain; charset=utf-8';

type Page = (query: URLSearchParams, response: ServerResponse, request: IncomingMessage) => void;

/** The debug port: `/`, `/ui`, `/rlconfig`, `/stats`, `/debug/pprof/`. GET and HEAD only. */
export function createDebugListener(deps: DebugDeps, options: DebugOptions): Listener {
  const { allowedHosts, adminHosts = [], protectAll = false } = options;
  const isAllowed = createHostCheck([...allowedHosts, ...adminHosts]);
  const admission = {
    isHost: isAllowed,
    hosts: new Set(adminHosts.map((name) => name.toLowerCase())),
  };
  const dumps = createDumps();
  const profiles = createProfileEndpoint(deps.clock, deps.workerProfiles);
  const events = createEventStream(deps.live, deps.events);
  const ui = createUiPage();
  const text =
    (page: string): Page =>
    (_query, response) => {
      send(response, 200, PLAIN, page);
    };
  const profilesPage = text(pprofPage(deps.workerProfiles?.count));
  const pages: ReadonlyMap<string, Page> = new Map([
    ['/', text(INDEX_PAGE)],
    ...['/ui', '/ui/'].map((path): [string, Page] => [
      path,
      (_query, response) => {
        ui(response);
      },
    ]),
    [
      '/ui/events',
      (_query, response, request) => {
        events.serve(request, response);
      },
    ],
    [
      '/rlconfig',
      (_query, response) => {
        const version = deps.rulesVersion?.();
        if (version !== undefined) response.setHeader('X-Weir-Rules', version);
        dumps.sendText(response, deps.dumpRules);
      },
    ],
    ['/stats', statsPage(deps, dumps)],
    ['/debug/pprof/', profilesPage],
    ['/debug/pprof', profilesPage],
    ...(['profile', 'heap'] as const).map((kind): [string, Page] => [
      `/debug/pprof/${kind}`,
      (query, response) => {
        profiles.serve(kind, query, response);
      },
    ]),
  ]);
  const handle: RequestListener = (request, response) => {
    response.setHeader('X-Content-Type-Options', 'nosniff');
    const { host } = request.headers;
    const { admin } = deps;
    if (admin !== undefined && request.url?.startsWith(ADMIN_PREFIX) === true) {
      const refused = refuseForeign(request.headers, admission);
      if (refused !== undefined) sendAdmin(request, response, refused);
      else
        withToken(request, response, (tokenId) => {
          admin(request, response, { tokenId });
        });
    } else if (!isAllowed(host)) send(response, 421, PLAIN, misdirected(host));
    else if (protectAll)
      withToken(request, response, () => {
        respond(pages, request, response);
      });
    else respond(pages, request, response);
  };
  /** Goes on at once where no token is asked for. */
  const withToken = (
    request: IncomingMessage,
    response: ServerResponse,
    next: (tokenId: string | undefined) => void,
  ): void => {
    if (deps.checkToken === undefined) {
      next(undefined);
      return;
    }
    void deps.checkToken(request.headers.authorization).then((tokenId) => {
      if (tokenId !== undefined) {
        next(tokenId);
        return;
      }
      response.setHeader('WWW-Authenticate', CHALLENGE);
      sendAdmin(request, response, NO_TOKEN);
    });
  };
  // What shows an overload is bounded by itself, and must be seen during one.
  const listener = createHttpListener({ handle, isVital: () => true }, options);
  return {
    ...listener,
    close(withinMs) {
      profiles.close();
      events.close();
      return listener.close(withinMs);
    },
  };
}

function respond(
  pages: ReadonlyMap<string, Page>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const { method = '', url = '/' } = request;
  const [path = '', query = ''] = url.split('?', 2);
  const page = pages.get(path);
  if (page === undefined) {
    send(response, 404, PLAIN, `no such page, there are:\n${INDEX_PAGE}`);
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    send(response, 405, PLAIN, `method ${method} is not allowed here, expected GET or HEAD\n`);
  } else {
    show(page, new URLSearchParams(query), response, request);
  }
}

/** A page that cannot be made is an error of that page, never of the process. */
function show(
  page: Page,
  query: URLSearchParams,
  response: ServerResponse,
  request: IncomingMessage,
): void {
  try {
    page(query, response, request);
  } catch (error) {
    const reason = toReason(error);
    send(response, 500, PLAIN, `this page failed: ${reason}\n`);
  }
}

function statsPage({ dumpStats, dumpStatsJson }: DebugDeps, dumps: Dumps): Page {
  return (query, response) => {
    const format = query.get('format') ?? 'text';
    if (format === 'text') dumps.sendPieces(response, PLAIN, dumpStats);
    else if (format === 'json') dumps.sendPieces(response, 'application/json', dumpStatsJson);
    else {
      const error = `format is ${JSON.stringify(format)}, expected text or json\n`;
      send(response, 400, PLAIN, error);
    }
  };
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

function misdirected(host = ''): string {
  const name = JSON.stringify(host.slice(0, 200));
  const known =
    'expected an address, localhost, a name of one label, or one of DEBUG_ALLOWED_HOSTS';
  return `host ${name} is not served here, ${known}\n`;
}
