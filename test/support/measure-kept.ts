import { planBatch } from '../../src/core/planning/plan';
import { windowsAt } from '../../src/core/planning/windows';
import { BatchStatsBuilder } from '../../src/core/decision/figures';
import type { Responder, PendingRequest } from '../../src/core/ports';
import { createLiveView } from '../../src/stats/dashboard/create-live-view';
import { createRecordStats } from '../../src/stats/record-stats';
import { createRegistry } from '../../src/stats/registry';
import { rememberByName } from '../../src/stats/names';
import { createTracer } from '../../src/tracing/create-tracer';
import { createChildIds } from '../../src/tracing/create-tracing';
import type { SpanRecord } from '../../src/tracing/span-records';
import { request } from './requests';
import { rulesOf } from './rules';

/*
 * Prints how many bytes of the heap are alive after hundreds of large requests went by, by what outlives
 * them. Texts are views of a body, as `slice` makes them, or long themselves. Needs `--expose-gc`.
 */

const REQUESTS = 250;
const BODY_BYTES = 200_000;
const responder: Responder = { answer: () => true };

/** A body of its own, which every part of it keeps alive. */
function body(serial: number, text: string): string {
  return Buffer.alloc(BODY_BYTES, `${String(serial)}-${text}`).toString('latin1');
}

/** Heap that is alive after what `run` keeps, less what was before. */
async function measure(run: () => Promise<unknown>): Promise<number> {
  global.gc?.();
  const before = process.memoryUsage().heapUsed;
  const kept = await run();
  global.gc?.();
  const bytes = process.memoryUsage().heapUsed - before;
  // What was kept is alive up to here.
  return kept === undefined ? NaN : bytes;
}

async function spans(): Promise<unknown> {
  const records: SpanRecord[] = [];
  const add = (record: SpanRecord) => records.push(record);
  const tracer = createTracer(
    { add, monotonicMs: () => 0, random: () => 0, childOf: createChildIds(() => undefined) },
    { samplingRate: 1 },
  );
  const kind = { name: 'c', attributes: {}, statusAttribute: 's', statusOf: () => 0 };
  for (let i = 0; i < REQUESTS; i++) {
    const headers = { names: ['tracestate', 'x'], values: [body(i, 'state'), body(i, 'x')] };
    const pending: PendingRequest = {
      request: request(body(i, 'domain'), ['user=ann']),
      responder,
      callId: i,
      trace: tracer.start(kind, headers),
    };
    const batch = tracer.begin([pending]);
    batch?.matched(1);
    batch?.counted({ after: [1], held: undefined, failures: undefined });
    const failed = { kind: 'failure', code: 'store_timeout', message: body(i, 'e') } as const;
    batch?.answered([failed]);
  }
  return Promise.resolve(records);
}

async function hotKeys(): Promise<unknown> {
  const rules = rulesOf('shop', [{ key: 'user', limit: [2, 'MINUTE'] }]);
  const live = createLiveView(
    {
      rules: { current: rules },
      registry: createRegistry(),
      clock: () => 0,
      monotonicMs: () => 0,
      random: () => 0,
    },
    { keyPrefix: '' },
  );
  const store = {
    add: () => Promise.resolve({ after: [1], held: undefined, failures: undefined }),
  };
  const counters = live.watchCounters(store, 'store');
  live.start();
  const options = { keyPrefix: '', ttlJitterSeconds: 1, holdBack: false };
  for (let i = 0; i < REQUESTS; i++) {
    // Views, as a reader that cuts texts out of a body would make them.
    const [value, name] = [body(i, 'value').slice(0, 1_500), body(i, 'name').slice(0, 60)];
    const limited = {
      entries: [{ key: name, value }],
      limit: { requestsPerUnit: 5, unit: 3 },
      hits: undefined,
      isNegativeHits: false,
    };
    const asked = request('shop', [limited, `user=${value}`, `user=${body(i, 'long')}`]);
    for (const one of asked.descriptors) {
      const part = { ...asked, descriptors: [one] };
      const { increments } = planBatch(rules, [part], windowsAt(0), options, () => 0);
      await counters.add({ increments, groupEnds: undefined, nowSeconds: 0 });
    }
  }
  return live;
}

async function series(): Promise<unknown> {
  const registry = createRegistry();
  const record = createRecordStats(registry);
  for (let i = 0; i < REQUESTS; i++) {
    const [clean, unclean] = [body(i, 'clean').slice(0, 300), body(i, 'a:b|c').slice(0, 300)];
    const domains = [clean, unclean, body(i, 'long')];
    const unknownDomains = domains.map((domain) => ({ domain, descriptors: 1 }));
    record(new BatchStatsBuilder({ unknownDomains, unmatched: undefined }, 1));
  }
  return Promise.resolve(registry);
}

async function names(): Promise<unknown> {
  const remembered = rememberByName((name) => ({ name: name.slice(0, 100), tags: name.slice(50) }));
  for (let i = 0; i < REQUESTS; i++) remembered(body(i, 'name').slice(0, 500));
  return Promise.resolve(remembered);
}

async function main(): Promise<void> {
  const kept: Record<string, number> = {};
  for (const [what, run] of Object.entries({ spans, hotKeys, series, names }))
    kept[what] = await measure(run);
  console.log(JSON.stringify(kept));
}

void main();
