import { map, type Observable } from 'rxjs';
import { createStreamGroup } from '../../streams';
import { StoreError } from '../core/errors';
import type { CounterBatch, CounterReply, Counters } from '../core/ports';
import { draftOf, toReply } from '../core/batches/reply-draft';

interface Waiting {
  readonly batch: CounterBatch;
  readonly resolve: (reply: CounterReply) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gathers the batches of a window and sends them as one; each still gets its own reply. `openWindow` starts a window, which ends with
 * its first value. Windows end while `run$` is subscribed to.
 */
export function createPipelineWindow(openWindow: () => Observable<unknown>) {
  const windows = createStreamGroup();
  return {
    run$: windows.run$,
    before: (counters: Counters): Counters => gather(counters, openWindow, windows),
  };
}

function gather(
  counters: Counters,
  openWindow: () => Observable<unknown>,
  windows: ReturnType<typeof createStreamGroup>,
): Counters {
  let waiting: Waiting[] = [];
  let isClosed = false;

  const flush = async (): Promise<void> => {
    const gathered = waiting;
    waiting = [];
    if (gathered.length === 0) return;
    try {
      const reply = await counters.add(joinBatches(gathered.map(({ batch }) => batch)));
      shareOut(reply, gathered);
    } catch (error) {
      for (const { reject } of gathered) reject(error);
    }
  };

  return {
    add: (batch) =>
      isClosed
        ? counters.add(batch)
        : new Promise((resolve, reject) => {
            waiting.push({ batch, resolve, reject });
            if (waiting.length === 1) windows.add(openWindow().pipe(map(flush)));
          }),
    async close() {
      isClosed = true;
      windows.close();
      await flush();
      await counters.close();
    },
  };
}

/** Where a batch has runs, each increment of a batch without them becomes a run of its own. */
function joinBatches(batches: readonly CounterBatch[]): CounterBatch {
  const increments = batches.flatMap((batch) => batch.increments);
  const nowSeconds = Math.max(...batches.map((batch) => batch.nowSeconds));
  if (batches.every(({ groupEnds }) => groupEnds === undefined))
    return { increments, groupEnds: undefined, nowSeconds };
  const joined: number[] = [];
  let start = 0;
  for (const { increments: own, groupEnds = own.map((_, at) => at + 1) } of batches) {
    for (const end of groupEnds) joined.push(start + end);
    start += own.length;
  }
  return { increments, groupEnds: joined, nowSeconds };
}

function shareOut(reply: CounterReply, gathered: readonly Waiting[]): void {
  let start = 0;
  for (const { batch, resolve, reject } of gathered) {
    const end = start + batch.increments.length;
    try {
      resolve(toReply(draftOf(reply, start, end)));
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      reject(error);
    }
    start = end;
  }
}
