import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { Clock } from '../../core/ports';
import { createHttpListener, type HttpListenerOptions } from '../http-listener';
import type { Listener } from '../listener';
import { createEventStream, type EventSource, type EventStreamOptions } from './event-stream';
import { INDEX_PAGE, PPROF_PAGE } from './pages';
import { createProfileEndpoint } from './profile-endpoint';
import { createUiPage } from './ui-page';

/** What the pages show; each is asked when its page is. */
export interface DebugDeps {
  /** The rules in force, a line for each limit. */
  readonly dumpRules: () => string;
  /** All statistics as lines of text, in pieces: there may be a million. */
  readonly dumpStats: () => AsyncIterable<string>;
  /** The same as JSON. */
  readonly dumpStatsJson: () => AsyncIterable<string>;
  /** What the dashboard is told. */
  readonly live: EventSource;
  /** Default: EVENT_STREAM_OPTIONS. */
  readonly events?: EventStreamOptions;
  readonly clock: Clock;
}

type Page = (query: URLSearchParams, response: ServerResponse, request: IncomingMessage) => void;

/** The debug port: `/`, `/ui`, `/rlconfig`, `/stats`, `/debug/pprof/`. GET and HEAD only. */
export function createDebugListener(deps: DebugDeps, options: HttpListenerOptions): Listener {
  const profiles = createProfileEndpoint(deps.clock);
  const events = createEventStream(deps.live, deps.events);
  const ui = createUiPage();
  const text =
    (dump: () => string): Page =>
    (_query, response) => {
      send(response, 200, 'text/plain; charset=utf-8', withNewline(dump()));
    };
  const pages: ReadonlyMap<string, Page> = new Map([
    ['/', text(() => INDEX_PAGE)],
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
    ['/rlconfig', text(deps.dumpRules)],
    ['/stats', statsPage(deps)],
    ['/debug/pprof/', text(() => PPROF_PAGE)],
    ['/debug/pprof', text(() => PPROF_PAGE)],
    ...(['profile', 'heap'] as const).map((kind): [string, Page] => [
      `/debug/pprof/${kind}`,
      (query, response) => {
        profiles.serve(kind, query, response);
      },
    ]),
  ]);
  const listener = createHttpListener((request, response) => {
    respond(pages, request, response);
  }, options);
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
  const plain = 'text/plain; charset=utf-8';
  if (page === undefined) {
    send(response, 404, plain, `no such page, there are:\n${INDEX_PAGE}`);
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    send(response, 405, plain, `method ${method} is not allowed here, expected GET or HEAD\n`);
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
    const reason = error instanceof Error ? error.message : String(error);
    send(response, 500, 'text/plain; charset=utf-8', `this page failed: ${reason}\n`);
  }
}

function statsPage({ dumpStats, dumpStatsJson }: DebugDeps): Page {
  return (query, response) => {
    const format = query.get('format') ?? 'text';
    if (format === 'text') sendPieces(response, 'text/plain; charset=utf-8', dumpStats());
    else if (format === 'json') sendPieces(response, 'application/json', dumpStatsJson());
    else {
      const error = `format is ${JSON.stringify(format)}, expected text or json\n`;
      send(response, 400, 'text/plain; charset=utf-8', error);
    }
  };
}

/** As fast as they are read. A fault cuts the answer, so that nobody takes a part of it for the whole. */
function sendPieces(
  response: ServerResponse,
  contentType: string,
  pieces: AsyncIterable<string>,
): void {
  response.writeHead(200, { 'Content-Type': contentType });
  pipeline(Readable.from(pieces), response, (error) => {
    if (error) response.destroy();
  });
}

function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': contentType,
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

function withNewline(body: string): string {
  return body === '' || body.endsWith('\n') ? body : `${body}\n`;
}
