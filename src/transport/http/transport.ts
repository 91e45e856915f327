import type { ServerResponse } from 'node:http';
import express, { type NextFunction, type Request, type Response } from 'express';
import type { HealthStatus, Snapshot } from '../../../streams';
import type { CallTracer, Statistics } from '../../core/ports';
import { DEFAULT_BOUNDS, type TransportBounds } from '../bounds';
import { createHttpListener, type HttpListenerOptions } from '../../platform/http-listener';
import type { Transport } from '../listener';
import { createRequestSource } from '../request-source';
import { createCheckEndpoint, type CheckDeps } from './check/check-endpoint';
import { createJsonEndpoint } from './json-endpoint';
import { refusal, refuse, respond } from '../responses';

export interface HttpTransportDeps {
  readonly health: Snapshot<HealthStatus<string>>;
  readonly statistics: Statistics;
  /** The components of health, for `/readyz?verbose`; default: those that are down. */
  readonly components?: readonly string[];
  /** Components that are down and ignored, and why; default: none. */
  readonly notCounted?: () => ReadonlyMap<string, string>;
  /** How to mend a component that is down. Default: unknown. */
  readonly advice?: (() => ReadonlyMap<string, string>) | undefined;
  /** Undefined: nothing is traced. */
  readonly tracer?: CallTracer | undefined;
  /** Undefined: `/check` and `/quota` are not served. */
  readonly check?: Pick<CheckDeps, 'checks' | 'policies' | 'warn'> | undefined;
}

export interface HttpTransportOptions extends HttpListenerOptions {
  /** Default: DEFAULT_BOUNDS. */
  readonly bounds?: TransportBounds;
}

/** The HTTP port: `/check` and `/quota`; by Express `POST /json`, `GET /healthcheck`, `/readyz` and `/livez`. */
export function createHttpTransport(
  {
    health,
    components,
    notCounted = none,
    advice = none,
    statistics,
    tracer,
    check,
  }: HttpTransportDeps,
  options: HttpTransportOptions,
): Transport {
  const { bounds = DEFAULT_BOUNDS, limits } = options;
  const pendingRequests = createRequestSource();
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');

  app.post('/json', createJsonEndpoint({ bounds, ask: pendingRequests.ask, statistics, tracer }));
  app.all('/json', allowOnly('POST'));
  // Express answers HEAD by the handler of GET.
  app.get(['/healthcheck', '/readyz'], (request, response) => {
    const isVerbose = request.path === '/readyz' && 'verbose' in request.query;
    if (isVerbose)
      respondComponents(response, health.current, [notCounted(), advice()], components);
    else respondHealth(response, health.current);
  });
  // An answer is all that liveness means.
  app.get('/livez', (_request, response) => {
    respond(response, 200, 'text/plain', 'OK');
  });
  app.all(['/healthcheck', '/readyz', '/livez'], allowOnly('GET, HEAD'));
  app.use((request, response) => {
    const error = `no such path ${JSON.stringify(request.path.slice(0, 200))}`;
    const known = 'expected POST /json or GET /healthcheck, /readyz or /livez';
    refuse(response, refusal(404, 'not_found', `${error}, ${known}`));
  });
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(error);
    else refuse(response, refusal(500, 'internal', 'a fault of the service, not of the request'));
  });

  const checks =
    check &&
    createCheckEndpoint({
      ...check,
      ask: pendingRequests.ask,
      statistics,
      tracer,
      maxValueBytes: bounds.maxValueBytes,
      isOverloaded: () => limits.budget.isSpent,
    });
  const listener = createHttpListener(
    {
      // Express would cost more than the decision.
      handle(request, response) {
        if (checks?.isFor(request) === true) checks.handle(request, response);
        else app(request, response);
      },
      // Too many connections must not restart the service; a check has its own answer to them.
      isVital: (request) => request.url === '/healthcheck' || checks?.isFor(request) === true,
    },
    options,
  );
  return {
    ...listener,
    requests$: pendingRequests.requests$,
    close(withinMs) {
      const closed = listener.close(withinMs);
      pendingRequests.close();
      return closed;
    },
  };
}

const none = () => new Map<string, string>();

function respondHealth(response: ServerResponse, { serving, down }: HealthStatus<string>): void {
  if (serving) respond(response, 200, 'text/plain', 'OK');
  else respond(response, 500, 'text/plain', `not healthy: ${down.join(', ')}\n`);
}

function respondComponents(
  response: ServerResponse,
  { serving, down }: HealthStatus<string>,
  [notCounted, advice]: readonly [ReadonlyMap<string, string>, ReadonlyMap<string, string>],
  components: readonly string[] = down,
): void {
  const stateOf = (name: string): string => {
    const why = notCounted.get(name);
    if (why === undefined && !down.includes(name)) return 'up';
    const notes = [why && `does not count: ${why}`, advice.get(name)];
    const text = notes.filter((note) => note !== undefined).join('; ');
    return text === '' ? 'down' : `down (${text})`;
  };
  const lines = components.map((name) => `${name}: ${stateOf(name)}\n`);
  respond(response, serving ? 200 : 500, 'text/plain', lines.join(''));
}

function allowOnly(methods: string) {
  return (request: Request, response: Response): void => {
    const error = `method ${request.method} is not allowed here, expected ${methods}`;
    request.resume();
    refuse(response, refusal(405, 'method_not_allowed', error, { Allow: methods }));
  };
}
