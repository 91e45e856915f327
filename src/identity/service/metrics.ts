import type { Reason } from './outcome';

/** What the service counts, for whoever scrapes it. */
export interface Metrics {
  request(status: number, reason: Reason, seconds: number): void;
  /** A question to the decision service that got no answer. */
  limiterFailure(): void;
  /** The text format of Prometheus, version 0.0.4. */
  print(): string;
}

const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1];
const REQUESTS = 'identity_userinfo_requests_total';
const DURATION = 'identity_userinfo_duration_seconds';
const FAILURES = 'identity_ratelimit_failures_total';

export function createMetrics(): Metrics {
  const requests = new Map<string, number>();
  const buckets = BUCKETS.map(() => 0);
  let count = 0;
  let sum = 0;
  let failures = 0;

  const printRequests = () =>
    [...requests].map(([labels, total]) => `${REQUESTS}{${labels}} ${String(total)}`);
  const printBuckets = () =>
    BUCKETS.map((le, index) => `${DURATION}_bucket{le="${String(le)}"} ${String(buckets[index])}`);

  return {
    request(status, reason, seconds) {
      const labels = `code="${String(status)}",reason="${reason}"`;
      requests.set(labels, (requests.get(labels) ?? 0) + 1);
      count += 1;
      sum += seconds;
      for (let at = BUCKETS.length - 1; at >= 0 && seconds <= (BUCKETS[at] as number); at--)
        buckets[at] = (buckets[at] as number) + 1;
    },
    limiterFailure() {
      failures += 1;
    },
    print: () =>
      [
        `# HELP ${REQUESTS} Answers by status and reason.`,
        `# TYPE ${REQUESTS} counter`,
        ...printRequests(),
        `# HELP ${DURATION} Time from the request to its answer.`,
        `# TYPE ${DURATION} histogram`,
        ...printBuckets(),
        `${DURATION}_bucket{le="+Inf"} ${String(count)}`,
        `${DURATION}_sum ${String(sum)}`,
        `${DURATION}_count ${String(count)}`,
        `# HELP ${FAILURES} Questions to the decision service without an answer.`,
        `# TYPE ${FAILURES} counter`,
        `${FAILURES} ${String(failures)}`,
        '',
      ].join('\n'),
  };
}
