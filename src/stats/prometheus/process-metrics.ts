import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { createBusyShare } from '../../platform/busy-share';
import type { ProcessMetric } from './families';

/** Measurements of the event loop's monitor include the interval of its own timer, in milliseconds. */
const RESOLUTION_MS = 10;
const LAG = /^nodejs_eventloop_lag_(?:min|max|mean|p50|p90|p99)_seconds$/;
/** The monitor's smallest value before its first sample is 2^63 ns. */
const NO_SAMPLE_SECONDS = 1e9;

/**
 * The state of this process, under the names that dashboards of Node services read. Create it once per process: prom-client gives
 * no handle on its observer of garbage collections, which ends with the process and does not keep it alive.
 */
export function createProcessMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: RESOLUTION_MS });
  const readBusyShare = createBusyShare();
  new Gauge({
    name: 'nodejs_eventloop_utilization',
    help: 'Share of time in which the event loop was busy, 0 to 1.',
    registers: [registry],
    collect() {
      this.set(readBusyShare());
    },
  });

  return {
    /** The event loop's lag is that since the previous call. */
    async read(): Promise<readonly ProcessMetric[]> {
      // See Metric: the library's types are wrong.
      const metrics = (await registry.getMetricsAsJSON()) as unknown as readonly Metric[];
      return metrics.flatMap(({ name, help, type, values }) =>
        values.map(({ value, labels, metricName = name }) => ({
          name,
          type,
          help,
          suffix: metricName.slice(name.length),
          labels: toTexts(labels),
          value: LAG.test(name) ? lagOf(value) : value,
        })),
      );
    },
    close() {
      registry.clear();
    },
  };
}

/** As `getMetricsAsJSON` returns them; the library's own types omit `metricName` and declare `type` a number. */
interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: ProcessMetric['type'];
  readonly values: readonly {
    readonly value: number;
    readonly labels: Readonly<Record<string, string | number>>;
    /** For a histogram: the name with `_bucket`, `_sum` or `_count`. */
    readonly metricName?: string;
  }[];
}

function toTexts(
  labels: Readonly<Record<string, string | number>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [name, String(value)]));
}

function lagOf(seconds: number): number {
  return seconds < NO_SAMPLE_SECONDS ? Math.max(0, seconds - RESOLUTION_MS / 1e3) : 0;
}
