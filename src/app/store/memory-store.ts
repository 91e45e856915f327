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
import { memoryBounds, readHeapLimit } from './memory-bounds';

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
