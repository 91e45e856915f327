import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Reading } from './families';

/** How this process is doing, under the names that dashboards of Node services read. */
export interface ProcessReadings {
  /** The event loop's lag is that since the call before. */
  read(): readonly Reading[];
  close(): void;
}

const RESOLUTION_MS = 10;

export function createProcessReadings(): ProcessReadings {
  const lag = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  lag.enable();
  const startSeconds = Math.round(Date.now() / 1000 - process.uptime());

  return {
    read() {
      const memory = process.memoryUsage();
      const { user, system } = process.cpuUsage();
      // What the monitor measures holds the interval of its own timer.
      const lagOf = (nanoseconds: number) =>
        Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS) / 1e3 : 0;
      const readings = [
        gauge('nodejs_eventloop_lag_mean_seconds', 'mean event loop lag', lagOf(lag.mean)),
        gauge(
          'nodejs_eventloop_lag_p99_seconds',
          'event loop lag, 99 %',
          lagOf(lag.percentile(99)),
        ),
        gauge('nodejs_eventloop_lag_max_seconds', 'longest event loop lag', lagOf(lag.max)),
        gauge('nodejs_heap_size_total_bytes', 'heap of V8', memory.heapTotal),
        gauge('nodejs_heap_size_used_bytes', 'heap of V8 in use', memory.heapUsed),
        gauge('nodejs_external_memory_bytes', 'memory outside the heap', memory.external),
        gauge('process_resident_memory_bytes', 'memory of the process', memory.rss),
        gauge('process_start_time_seconds', 'start of the process', startSeconds),
        {
          name: 'process_cpu_seconds_total',
          type: 'counter' as const,
          help: 'processor time of user and system',
          value: (user + system) / 1e6,
        },
      ];
      lag.reset();
      return readings;
    },
    close() {
      lag.disable();
    },
  };
}

function gauge(name: string, help: string, value: number): Reading {
  return { name, type: 'gauge', help, value };
}
