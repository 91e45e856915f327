import type { RequestListener } from 'node:http';
import type { IdentityReader } from '../store/store';
import type { Metrics } from './metrics';

/** The port for operators: `/metrics`, and `/healthcheck`, which says whether the store can be read. */
export function createMetricsHandler(metrics: Metrics, store: IdentityReader): RequestListener {
  return (request, response) => {
    const send = (status: number, body: string): void => {
      response.writeHead(status, {
        'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
        'Cache-Control': 'no-store',
      });
      response.end(body);
    };
    request.resume();
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && request.url === '/metrics')
      metrics.print().then(
        (text) => {
          send(200, text);
        },
        () => {
          send(500, 'the metrics cannot be read\n');
        },
      );
    else if (isRead && request.url === '/healthcheck')
      store.apiKeys().then(
        () => {
          send(200, 'OK');
        },
        () => {
          send(503, 'the identity store cannot be read\n');
        },
      );
    else send(404, 'expected GET /metrics or GET /healthcheck\n');
  };
}
