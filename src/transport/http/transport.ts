import type { ServerResponse } from 'node:http';
import express, { type NextFunction, type Request, type Response } from 'express';
import type { HealthStatus, Snapshot } from '../../../streams';
import type { CallTracer, Statistics } from '../../core/ports';
import { DEFAULT_BOUNDS, type TransportBounds } from '../bounds';
import { createHttpListener, type HttpListenerOptions } from '../../platform/http-listener';
import type { Transport } from '../listener';
import { createQuestionSource } from '../question-source';
import { createJsonEndpoint } from './decisions';
import { refusal } from './refusal';
import { refuse, respond } from './respond';

export interface HttpTransportDeps {
  readonly health: Snapshot<HealthStatus<string>>;
  readonly statistics: Statistics;
  /** Undefined: nothing is traced. */
  readonly tracer?: CallTracer | undefined;
}

export interface HttpTransportOptions extends HttpListenerOptions {
  /** Default: DEFAULT_BOUNDS. */
  readonly bounds?: TransportBounds;
}

/** The HTTP port by Express: `POST /json` and `GET /healthcheck`. */
export function createHttpTransport(
  { health, statistics, tracer }: HttpTransportDeps,
  options: HttpTransportOptions,
): Transport {
  const { bounds = DEFAULT_BOUNDS } = options;
  const questions = createQuestionSource();
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('case sensitive routing');
  app.enable('strict routing');

  app.post('/json', createJsonEndpoint({ bounds, ask: questions.ask, statistics, tracer }));
  app.all('/json', allowOnly('POST'));
  // Express answers HEAD by the handler of GET.
  app.get('/healthcheck', (_request, response) => {
    respondHealth(response, health.current);
  });
  app.all('/healthcheck', allowOnly('GET, HEAD'));
  app.use((request, response) => {
    const error = `no such path ${JSON.stringify(request.path.slice(0, 200))}`;
    const known = 'expected POST /json or GET /healthcheck';
    refuse(response, refusal(404, 'not_found', `${error}, ${known}`));
  });
  app.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(error);
    else refuse(response, refusal(500, 'internal', 'a fault of the service, not of the request'));
  });

  const listener = createHttpListener(
    // A full house is no reason to be restarted.
    { handle: app, isVital: ({ url }) => url === '/healthcheck' },
    options,
  );
  return {
    ...listener,
    questions$: questions.questions$,
    close(withinMs) {
      const closed = listener.close(withinMs);
      questions.close();
      return closed;
    },
  };
}

function respondHealth(response: ServerResponse, { serving, down }: HealthStatus<string>): void {
  if (serving) respond(response, 200, 'text/plain', 'OK');
  else respond(response, 500, 'text/plain', `not healthy: ${down.join(', ')}\n`);
}

function allowOnly(methods: string) {
  return (request: Request, response: Response): void => {
    const error = `method ${request.method} is not allowed here, expected ${methods}`;
    request.resume();
    refuse(response, refusal(405, 'method_not_allowed', error, { Allow: methods }));
  };
}
