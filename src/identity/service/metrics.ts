import { Counter, Histogram, Registry } from 'prom-client';
import type { Reason } from './outcome';

/** What the service counts, for whoever scrapes it. */
export interface Metrics {
  request(status: number, reason: Reason, seconds: number): void;
  /** A question to the decision service that got no answer. */
  limiterFailure(): void;
  /** The text format of Prometheus, version 0.0.4. */
  print(): Promise<string>;
}

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];

export function createMetrics(): Metrics {
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
    help: 'Questions to the decision service without an answer.',
    registers,
  });

  return {
    request(status, reason, seconds) {
      requests.inc({ code: status, reason });
      duration.observe(seconds);
    },
    limiterFailure() {
      failures.inc();
    },
    print: () => registry.metrics(),
  };
}
