import { getHeapStatistics } from 'node:v8';
import { EMPTY, of } from 'rxjs';
import { isBudgetLimiter } from '../../core/budgets/budget';
import { unused } from '../../core/kinds/limiter';
import { tickAt } from '../../core/kinds/ticks';
import type {
  Clock,
  CounterPlace,
  CounterReader,
  CounterReading,
  Statistics,
} from '../../core/ports';
import {
  createMemoryCounters,
  type MemoryCounters,
} from '../../counters/memory/create-memory-counters';
import type { Settings } from '../../settings/settings';
import type { StoreBackend } from './backend';
import type { ServerChain } from './chain';

interface MemoryStoreDeps {
  readonly clock: Clock;
  readonly statistics: Statistics;
}

export interface MemoryBackend extends StoreBackend {
  readonly servers: ServerChain & { readonly client: MemoryCounters };
}

/** It needs no connection. */
export function openMemoryStore(memory: Settings['memory'], deps: MemoryStoreDeps): MemoryBackend {
  const { clock } = deps;
  const client = createMemoryCounters(deps, memoryBounds(memory, readHeapLimit()));
  return {
    servers: { breaker: undefined, pipelineWindow: undefined, timer: undefined, client },
    closeGauges: () => undefined,
    reader: memoryReader(client, clock),
    writer: client,
    listOver: client.listOver,
    listOpen: ({ key }, most) => Promise.resolve(client.listOpen(key, clock(), most)),
    publishInvalidation: undefined,
    readFields: undefined,
    claim: undefined,
    noteVersions: undefined,
    scriptStores: [],
    connected$: of(true),
    connections: new Map(),
    run$: EMPTY,
    whyAway: () => undefined,
    misplaced: () => new Map(),
    hanging: () => [],
    description: 'memory',
  };
}

function memoryReader(counters: Pick<MemoryCounters, 'read'>, clock: Clock): CounterReader {
  const read = ({ key, rule }: CounterPlace): CounterReading => {
    const entry = counters.read(key, clock(), rule.limiter);
    const expiresInSeconds = entry && Math.max(0, Math.ceil(entry.ttlSeconds));
    const count = Number(entry?.value ?? 0);
    const { limiter } = rule;
    // A missing counter of a budget has figures too.
    const none = isBudgetLimiter(limiter)
      ? unused(limiter, tickAt(clock(), limiter.tickMicros))
      : undefined;
    const { state = none, firstEndMs } = entry ?? {};
    return { count, state, expiresInSeconds, firstEndMs, store: 'memory' };
  };
  return { read: (places) => Promise.resolve(places.map(read)) };
}

/** Default bound of counters in memory, however large the heap is. */
const DEFAULT_BYTES = 512 * 2 ** 20;

/** The bounds of counters in memory for a process with this heap limit. */
export function memoryBounds(
  { maxKeys, maxBytes }: Settings['memory'],
  heapLimitBytes: number,
): { readonly maxKeys: number; readonly maxBytes: number } {
  return { maxKeys, maxBytes: maxBytes ?? Math.min(DEFAULT_BYTES, halfOf(heapLimitBytes)) };
}

/** A warning that V8 may end the process before the bound of its counters is reached; undefined: it cannot. */
export function memoryWarning(
  { maxBytes = 0 }: Settings['memory'],
  heapLimitBytes: number,
): string | undefined {
  const most = halfOf(heapLimitBytes);
  if (maxBytes <= most) return undefined;
  return `MEMORY_MAX_BYTES=${String(maxBytes)} is more than half of the heap limit, and the heap would be full first: expected at most ${String(most)}, or a larger --max-old-space-size in NODE_OPTIONS`;
}

/** The other half is for everything else, and for the garbage collector to work in. */
function halfOf(heapLimitBytes: number): number {
  return Math.floor(heapLimitBytes / 2);
}

/** Heap limit of this process in bytes; beyond, V8 ends it. */
export function readHeapLimit(): number {
  return getHeapStatistics().heap_size_limit;
}
