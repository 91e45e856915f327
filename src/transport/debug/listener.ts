import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Clock } from '../../core/ports';
import { createHttpListener, type HttpListenerOptions } from '../../platform/http-listener';
import type { Listener } from '../listener';
import { toReason } from '../../platform/errors';
import type { Steps } from '../../core/steps';
import { monotonicMs as systemMonotonicMs } from '../../platform/clock';
import {
  createAdminRouter,
  sendAdmin,
  type AdminOptions,
  ADMIN_PREFIX,
} from './admin/admin-router';
import {
  CHALLENGE,
  NO_TOKEN,
  refuseForeign,
  type CheckToken,
  isForeign,
  createHostCheck,
} from './admin/admit';
import { createEventStream, type EventSource, type EventStreamOptions } from './event-stream';
import { createUiPage, INDEX_PAGE, pprofPage } from './ui-page';
import { createProfileEndpoint, type WorkerProfiles } from './profile-endpoint';
import type * as RuleSchema from '../../core/rules/parse/rule-schema';
import { linesOf, sendText, servePage, sendPieces, type Head } from './work/serve-work';
import { createWorkScheduler, type WorkScheduler, createTurns } from './work/work-scheduler';

/** The content of the pages, read on demand. */
export interface DebugDeps {
  /** The rules in force, a line per limit; undefined: skipped a rule without a limit. */
  readonly dumpRules: () => Iterable<string | undefined>;
  /** All statistics as lines of text, in pieces: there may be a million. */
  readonly dumpStats: () => Steps<void, string>;
  /** All statistics as JSON. */
  readonly dumpStatsJson: () => Steps<void, string>;
  /** The data of the dashboard. */
  readonly live: EventSource;
  /** Default: EVENT_STREAM_OPTIONS. */
  readonly events?: EventStreamOptions;
  readonly clock: Clock;
  /** The clock that measures work. Default: the system's. */
  readonly monotonicMs?: () => number;
  /** Undefined: one process does all the work. */
  readonly workerProfiles?: WorkerProfiles | undefined;
  /** The operator API; undefined: not served. */
  readonly admin?: AdminOptions | undefined;
  /** Undefined: no token is required. */
  readonly checkToken?: CheckToken | undefined;
  /** The header of `/rlconfig` with the version of the rules; undefined before the first load. */
  readonly rulesVersion?: () => string | undefined;
}

export interface DebugOptions extends HttpListenerOptions {
  /** Served host names besides addresses, localhost and names of one label. */
  readonly allowedHosts: readonly string[];
  /** ADMIN_HOSTS: also served, and their pages may call the operator API. */
  readonly adminHosts?: readonly string[];
  /** ADMIN_PROTECT_ALL. */
  readonly protectAll?: boolean;
}

const PLAIN = 'text/plain; charset=utf-8';

type Page = (query: URLSearchParams, response: ServerResponse, request: IncomingMessage) => void;

/** The debug port: `/`, `/ui`, `/rlconfig`, `/stats`, `/schema`, `/debug/pprof/`. GET and HEAD only. */
export function createDebugListener(deps: DebugDeps, options: DebugOptions): Listener {
  const { allowedHosts, adminHosts = [], protectAll = false } = options;
  const isAllowed = createHostCheck([...allowedHosts, ...adminHosts]);
  const admission = {
    isHost: isAllowed,
    hosts: new Set(adminHosts.map((name) => name.toLowerCase())),
  };
  const work = createWorkScheduler({ monotonicMs: deps.monotonicMs ?? systemMonotonicMs });
  const admin = deps.admin && createAdminRouter(deps.admin, work);
  const { clock, workerProfiles: workers } = deps;
  const profiles = createProfileEndpoint({ clock, work, workers });
  const events = createEventStream(deps.live, work, deps.events);
  const readUi = createUiPage();
  const text =
    (page: string): Page =>
    (_query, response) => {
      sendText(response, 200, page);
    };
  const profilesPage = text(pprofPage(deps.workerProfiles?.count));
  const pages: ReadonlyMap<string, Page> = new Map([
    ['/', text(INDEX_PAGE)],
    ...['/ui', '/ui/'].map((path): [string, Page] => [
      path,
      (_query, response) => {
        servePage(work, response, function* () {
          const { html, headers } = yield* readUi();
          const head = { status: 200, contentType: 'text/html; charset=utf-8', headers };
          yield* sendPieces(response, head, [html]);
        });
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
        servePage(work, response, () => sendPieces(response, OK_TEXT, linesOf(deps.dumpRules())));
      },
    ],
    ['/stats', statsPage(deps, work)],
    [
      '/schema',
      (_query, response) => {
        servePage(work, response, () => sendPieces(response, OK_SCHEMA, [ruleSchema()]));
      },
    ],
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
    if (admin !== undefined && request.url?.startsWith(ADMIN_PREFIX) === true) {
      const refused = refuseForeign(request.headers, admission);
      if (refused !== undefined) sendAdmin(request, response, refused);
      else
        withToken(request, response, (tokenId) => {
          admin(request, response, { tokenId });
        });
    } else if (!isAllowed(host)) sendText(response, 421, misdirected(host));
    else if (isForeign(request, admission)) sendText(response, 403, FOREIGN);
    else if (protectAll)
      withToken(request, response, () => {
        respond(pages, request, response);
      });
    else respond(pages, request, response);
  };
  /** Continues at once where no token is required. */
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
  // The pages that show an overload have bounds of their own, and must be visible during one.
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
    sendText(response, 404, `no such page; the pages are:\n${INDEX_PAGE}`);
  } else if (method !== 'GET' && method !== 'HEAD') {
    response.setHeader('Allow', 'GET, HEAD');
    sendText(response, 405, `method ${method} is not allowed here, expected GET or HEAD\n`);
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
    sendText(response, 500, `this page failed: ${toReason(error)}\n`);
  }
}

const FOREIGN =
  'a page of another site may not call this, expected this host or one of ADMIN_HOSTS\n';

const OK_TEXT: Head = { status: 200, contentType: PLAIN };
const OK_SCHEMA: Head = { status: 200, contentType: 'application/schema+json' };
const OK_JSON: Head = { status: 200, contentType: 'application/json' };

/** Loaded when somebody asks for it. */
function ruleSchema(): string {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- a start takes no time and memory for it
  const { RULE_SCHEMA } = require('../../core/rules/parse/rule-schema') as typeof RuleSchema;
  return `${JSON.stringify(RULE_SCHEMA, null, 2)}\n`;
}

function statsPage({ dumpStats, dumpStatsJson }: DebugDeps, work: WorkScheduler): Page {
  const inTurn = createTurns();
  return (query, response) => {
    const format = query.get('format') ?? 'text';
    if (format === 'text')
      servePage(work, response, () => inTurn(() => sendPieces(response, OK_TEXT, dumpStats())));
    else if (format === 'json')
      servePage(work, response, () => inTurn(() => sendPieces(response, OK_JSON, dumpStatsJson())));
    else {
      const error = `format is ${JSON.stringify(format)}, expected text or json\n`;
      sendText(response, 400, error);
    }
  };
}

function misdirected(host = ''): string {
  const name = JSON.stringify(host.slice(0, 200));
  const known =
    'expected an address, localhost, a name of one label, or one of DEBUG_ALLOWED_HOSTS';
  return `host ${name} is not served here, ${known}\n`;
}
