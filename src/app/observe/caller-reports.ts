import type { BatchStats } from '../../core/decision/figures';
import { NAMES } from '../../stats/names';
import type { Registry } from '../../stats/registry';
import type { OutageLog } from '../outage-log';

export interface CallerReportsDeps {
  readonly registry: Pick<Registry, 'timers'>;
  readonly outages: Pick<OutageLog, 'failed' | 'succeeded'>;
  readonly monotonicMs: () => number;
}

/** The name of the outage. */
const CALLERS = 'callers';
const LINES = {
  level: 'error',
  failing: 'callers give up before they are answered, and admit or refuse requests without a limit',
  ended: 'callers no longer give up before they are answered',
} as const;

/** An occasional caller that leaves is one whose own client hung up: no outage. */
const MAX_SHARE = 0.1;
const LEAST_REQUESTS = 10;
const LEAST_MS = 1_000;

/** Reports an outage while more than a tenth of the callers, over at least a second and ten requests, give up before their answers. */
export function createCallerReports({ registry, outages, monotonicMs }: CallerReportsDeps) {
  let requests = 0;
  let abandoned = 0;
  let sinceMs = monotonicMs();
  let before = storeTime(registry);

  return (batchStats: BatchStats): void => {
    requests += batchStats.requests;
    abandoned += batchStats.abandoned;
    if (requests < LEAST_REQUESTS) return;
    const nowMs = monotonicMs();
    if (nowMs - sinceMs < LEAST_MS) return;
    const now = storeTime(registry);
    if (abandoned > requests * MAX_SHARE) {
      const share = `${String(Math.round((100 * abandoned) / requests))} %`;
      outages.failed(CALLERS, LINES, { share, ...meanTime(before, now) }, abandoned);
    } else outages.succeeded(CALLERS);
    requests = abandoned = 0;
    sinceMs = nowMs;
    before = now;
  };
}

interface TimeTotal {
  readonly batches: number;
  readonly milliseconds: number;
}

function storeTime({ timers }: Pick<Registry, 'timers'>): TimeTotal {
  let [batches, milliseconds] = [0, 0];
  for (const [name, { count, sumMilliseconds }] of timers) {
    if (!name.startsWith(`${NAMES.store}.`)) continue;
    batches += count;
    milliseconds += sumMilliseconds;
  }
  return { batches, milliseconds };
}

/** Empty where no store was called. */
function meanTime(before: TimeTotal, now: TimeTotal): { readonly storeMs?: number } {
  const batches = now.batches - before.batches;
  if (batches === 0) return {};
  return { storeMs: Math.round((now.milliseconds - before.milliseconds) / batches) };
}
