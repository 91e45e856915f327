import type { RequestListener } from 'node:http';
import { Counter, Histogram, Registry } from 'prom-client';
import type { IdentityReader } from '../store/store';
import type { Reason } from './outcome';

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: 'identity_userinfo_requests_total',
    help: 'Answers by status and reason.',
    labelNames: ['code', 'reason'],
    registers,
  });
  const duration = new Histogram({
    name: 'identity_userinfo_duration_seconds',
    help: 'Time from the request to its answer.',
    buckets: BUCKETS,
    registers,
  });
  const failures = new Counter({
    name: 'identity_ratelimit_failures_total',
    help: 'Requests to the decision service without an answer.',
    registers,
  });

  return {
    request(status: number, reason: Reason, seconds: number) {
      requests.inc({ code: status, reason });
      duration.observe(seconds);
    },
    /** Counts a request to the decision service without an answer. */
    limiterFailure() {
      failures.inc();
    },
    /** The text format of Prometheus, version 0.0.4. */
    print: () => registry.metrics(),
  };
}

/** Counts requests for the operator's scrapes. */
export type Metrics = ReturnType<typeof createMetrics>;

/** The port for operators: `/metrics`, and `/healthcheck`, which reports whether the store can be read. */
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
