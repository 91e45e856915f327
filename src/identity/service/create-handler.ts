import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { type NextFunction, type Request, type Response, Router } from 'express';
import type { Logger } from '../../platform/logger';
import {
  ALLOWED_METHODS,
  createAnswers,
  errorAnswer,
  type HttpAnswer,
  type UserinfoProfile,
} from './answers';
import type { Metrics } from './metrics';
import { type UserinfoOutcome, type Reason, reasonOf, refused } from './outcome';

export interface HandlerDeps {
  readonly userinfo: (request: IncomingMessage) => Promise<UserinfoOutcome>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** A monotonic clock, in milliseconds. */
  readonly monotonicMs: () => number;
  readonly createRequestId: () => string;
}

export interface HandlerOptions {
  readonly corsOrigins: readonly string[];
  readonly profile: UserinfoProfile;
}

const PATH = '/v1/userinfo';
/** While a store is unreachable every request fails: the log reports it once in this time. */
const WARN_EVERY_MS = 1_000;

/** Headers of every answer, whatever its status (behaviour.md §7.2). */
const ALWAYS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

/** One request in progress. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly startedMs: number;
}

/** The HTTP interface of the service by Express' router; `userinfo` makes the answers. */
export function createHandler(deps: HandlerDeps, options: HandlerOptions): RequestListener {
  const { userinfo, metrics, logger, monotonicMs, createRequestId } = deps;
  const answer = createAnswers(options.profile);
  const cors = createCors(options.corsOrigins, ALLOWED_METHODS);

  let warnedMs = -Infinity;

  const begin = (request: IncomingMessage, response: ServerResponse): Exchange => {
    const requestId = requestIdOf(request, createRequestId);
    return { request, response, requestId, startedMs: monotonicMs() };
  };
  const send = (
    exchange: Exchange,
    { status, headers, body }: HttpAnswer,
    reason: Reason,
  ): void => {
    const { request, response, requestId, startedMs } = exchange;
    const milliseconds = monotonicMs() - startedMs;
    metrics.request(status, reason, milliseconds / 1_000);
    const fields = { requestId, status, reason, milliseconds };
    if (status >= 500 && startedMs - warnedMs >= WARN_EVERY_MS) {
      warnedMs = startedMs;
      logger.warn('answered a request with an error', fields);
    } else logger.debug('answered a request', fields);
    if (response.headersSent || response.destroyed) return;
    const length = status === 204 ? {} : { 'Content-Length': Buffer.byteLength(body) };
    response.writeHead(status, {
      ...ALWAYS,
      'X-Request-Id': requestId,
      ...cors.headers(request),
      ...headers,
      ...length,
    });
    // Node omits the body by itself when the method was HEAD.
    response.end(body);
  };
  const sendOutcome = (exchange: Exchange, outcome: UserinfoOutcome): void => {
    send(exchange, answer(outcome, exchange.requestId), reasonOf(outcome));
  };
  const sendFault = (exchange: Exchange, error: unknown): void => {
    const { requestId } = exchange;
    logger.error('a request failed because of an unexpected error', { requestId, error });
    send(exchange, errorAnswer('internal', requestId), 'fault');
  };
  const refuseAll =
    (error: 'not_found' | 'method_not_allowed', reason: Reason) =>
    (request: Request, response: Response): void => {
      request.resume();
      sendOutcome(begin(request, response), refused(error, reason));
    };

  const router = Router({ caseSensitive: true, strict: true });
  // Express answers HEAD by the handler of GET.
  router.get(PATH, (request, response) => {
    const exchange = begin(request, response);
    request.resume();
    userinfo(request).then(
      (outcome) => {
        sendOutcome(exchange, outcome);
      },
      (error: unknown) => {
        sendFault(exchange, error);
      },
    );
  });
  router.options(PATH, (request, response) => {
    request.resume();
    const headers = { Allow: ALLOWED_METHODS, ...cors.preflight(request) };
    send(begin(request, response), { status: 204, headers, body: '' }, 'preflight');
  });
  router.all(PATH, refuseAll('method_not_allowed', 'method'));
  router.use(refuseAll('not_found', 'path'));
  // The router without an application around it: that one replaces the prototypes of every request and response, which makes Node
  // four times as slow with them (docs/identity/README.md).
  return (request, response) => {
    const onError: NextFunction = (error) => {
      sendFault(begin(request, response), error);
    };
    router(request as Request, response as Response, onError);
  };
}

/** Too short for a token, so that none appears in an answer or a log by mistake. */
const GOOD = /^[A-Za-z0-9._:@-]{1,64}$/;

/** The client's X-Request-Id when it is a plain one, else a new one. */
function requestIdOf(request: IncomingMessage, createId: () => string): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && GOOD.test(given) ? given : createId();
}

const EXPOSED =
  'X-Request-Id, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, WWW-Authenticate';
const PREFLIGHT_SECONDS = 600;

/** CORS for the origins in IDENTITY_CORS_ORIGINS (`*`: all); credentials are headers, never cookies. */
function createCors(origins: readonly string[], methods: string) {
  const all = origins.includes('*');
  const allowed = new Set(origins);

  const headers = (request: IncomingMessage): Readonly<Record<string, string>> => {
    if (origins.length === 0) return {};
    if (all)
      return { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': EXPOSED };
    const { origin } = request.headers;
    if (origin === undefined || !allowed.has(origin)) return { Vary: 'Origin' };
    return {
      Vary: 'Origin',
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': EXPOSED,
    };
  };
  return {
    /** The headers about origins for every answer to this request; none while CORS is off. */
    headers,
    /** Further headers of the answer to a preflight. */
    preflight(request: IncomingMessage) {
      if (headers(request)['Access-Control-Allow-Origin'] === undefined) return {};
      return {
        'Access-Control-Allow-Methods': methods,
        'Access-Control-Allow-Headers': 'Authorization, X-API-Key, X-Request-Id',
        'Access-Control-Max-Age': String(PREFLIGHT_SECONDS),
      };
    },
  };
}
