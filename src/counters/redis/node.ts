import { type Observable } from 'rxjs';
import { type StoreError } from '../../core/errors';
import { type CounterBatch, type CounterReply } from '../../core/ports';
import { applyBatch, type Sending } from './apply-batch';
import { type RedisConnection } from './connection';
import { type NodeOptions } from './options';
import { readByPipeline, type ReadCounts } from './pipeline';
import { createPool, type PoolDeps } from './pool';
import { toTimeoutError, UnknownOutcome } from './store-errors';

/** How a batch is sent to a node of several. */
export interface NodeCall extends Sending {
  /** Monotonic milliseconds at which it settles at the latest. */
  readonly deadlineMs?: number;
}

/** Counters on one server. */
export interface RedisNode {
  /** The server's address, as it stands in messages. */
  readonly store: string;
  readonly connected$: Observable<boolean>;
  /** See `Connection`. */
  readonly run$: Observable<never>;
  /** A connection for questions that are no batches. */
  readonly anyConnection: RedisConnection | undefined;
  /** Increments that failed, be it all, are in the reply; rejects when the call failed as a whole. */
  add(batch: CounterBatch, how?: NodeCall): Promise<CounterReply>;
  /** Counters as they stand. */
  read(keys: readonly string[], how?: NodeCall): Promise<ReadCounts>;
  /** Lets what is open settle, for so long at most, then disconnects. */
  close(reason: string, graceMs?: number): Promise<void>;
}

const EMPTY_REPLY: CounterReply = { after: [], held: undefined, failures: undefined };

export function createNode(deps: PoolDeps, options: NodeOptions): RedisNode {
  const { monotonicMs, storeStatistics } = deps;
  const pool = createPool(deps, options);
  const { store } = pool;
  const onHoldBackPlainly = createWarning(deps, store);

  const countUnknownOutcomes = (errors: Iterable<unknown>): void => {
    for (const error of errors) {
      if (!(error instanceof UnknownOutcome)) continue;
      storeStatistics.fateUnknown();
      return;
    }
  };
  const send = (connection: RedisConnection, batch: CounterBatch, how?: NodeCall): Promise<CounterReply> => {
    if (batch.runEnds !== undefined && !connection.usesScripts) onHoldBackPlainly();
    return applyBatch(connection, batch, how);
  };

  /** Does something when its turn has come, within what is left of the time-out. */
  const doInTurn = async <T>(
    weight: number,
    { deadlineMs = monotonicMs() + options.timeoutMs }: NodeCall,
    act: (connection: RedisConnection) => Promise<T>,
  ): Promise<T> => {
    const connection = pool.free(weight);
    const turn =
      connection === undefined
        ? await pool.wait(weight)
        : { connection, batchInFlight: connection.inFlight.begin(weight) };
    const task = act(turn.connection).finally(() => {
      turn.connection.inFlight.end(turn.batchInFlight);
      pool.released(turn.connection);
    });
    const toError = (): StoreError => toTimeoutError(store, options.timeoutMs);
    return settleWithin(task, deadlineMs - monotonicMs(), toError);
  };

  const addInTurn = async (batch: CounterBatch, how: NodeCall): Promise<CounterReply> => {
    try {
      const weight = batch.increments.length;
      const reply = await doInTurn(weight, how, (connection) => send(connection, batch, how));
      if (reply.failures !== undefined) countUnknownOutcomes(reply.failures.values());
      return reply;
    } catch (error) {
      countUnknownOutcomes([error]);
      throw error;
    }
  };

  return {
    store,
    connected$: pool.connected$,
    run$: pool.run$,
    get anyConnection() {
      return pool.anyConnection;
    },
    async add(batch, how) {
      const weight = batch.increments.length;
      const connection = how === undefined ? pool.free(weight) : undefined;
      if (connection === undefined) return addInTurn(batch, how ?? {});
      if (weight === 0) return EMPTY_REPLY;
      const batchInFlight = connection.inFlight.begin(weight);
      try {
        const reply = await send(connection, batch);
        if (reply.failures !== undefined) countUnknownOutcomes(reply.failures.values());
        return reply;
      } catch (error) {
        countUnknownOutcomes([error]);
        throw error;
      } finally {
        connection.inFlight.end(batchInFlight);
        pool.released(connection);
      }
    },
    read: (keys, how = {}) =>
      doInTurn(keys.length, how, (connection) => readByPipeline(connection, keys, how.asking)),
    close: (reason, graceMs) => pool.close(reason, graceMs),
  };
}

/** Says once that runs are held back without a script. */
function createWarning({ onEvent }: PoolDeps, store: string): () => void {
  let hasWarned = false;
  return () => {
    if (hasWarned) return;
    hasWarned = true;
    onEvent?.({ kind: 'hold-back-not-atomic', store, reason: 'it takes no scripts' });
  };
}

/** Settles as the task does, or with an error when the time is over; the task goes on then. */
async function settleWithin<T>(
  task: Promise<T>,
  ms: number,
  toError: () => StoreError,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(toError());
    }, ms);
  });
  try {
    return await Promise.race([task, late]);
  } finally {
    clearTimeout(timer);
    task.catch(() => undefined);
  }
}
