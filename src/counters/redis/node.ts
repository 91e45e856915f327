import { EMPTY_REPLY } from '../../core/batches/reply-draft';
import { StoreError, settled } from '../../core/errors';
import type { CounterBatch, CounterReply, CounterReading } from '../../core/ports';
import { once } from '../once';
import { applyBatch } from './apply-batch';
import type { RedisConnection } from './connection';
import type { NodeOptions } from './options';
import {
  sendByPipeline,
  readByPipeline,
  type PlainCommand,
  type ReadCounts,
  type ReadOptions,
  type Sending,
} from './pipeline';
import { createPool, type PoolDeps } from './pool';
import { toTimeoutError, UnknownOutcome } from './store-errors';
import { unread } from '../count';

/** How a batch is sent to a node of several. */
export interface NodeCall extends Sending {
  /** Monotonic milliseconds at which it settles at the latest. */
  readonly deadlineMs?: number;
}

/** Counters on one server. */
export function createNode(deps: PoolDeps, options: NodeOptions) {
  const { monotonicMs, storeStatistics } = deps;
  const pool = createPool(deps, options);
  const { store } = pool;
  const warnNotAtomic = createWarning(deps, store, 'hold-back-not-atomic');
  const warnScriptsNeeded = createWarning(deps, store, 'scripts-needed');

  const countUnknownOutcomes = (errors: Iterable<unknown>): void => {
    for (const error of errors) {
      if (!(error instanceof UnknownOutcome)) continue;
      storeStatistics.outcomeUnknown();
      return;
    }
  };
  const send = (
    connection: RedisConnection,
    batch: CounterBatch,
    how?: NodeCall,
  ): Promise<CounterReply> => {
    if (!connection.usesScripts) {
      if (batch.groupEnds !== undefined) warnNotAtomic();
      if (batch.increments.some(({ limiter }) => limiter.kind.readsFirst)) warnScriptsNeeded();
    }
    return applyBatch(connection, batch, how);
  };

  /** Uses a connection as soon as one is free, within the rest of the time-out. */
  const withLease = async <T>(
    weight: number,
    { deadlineMs = monotonicMs() + options.timeoutMs }: NodeCall,
    act: (connection: RedisConnection) => Promise<T>,
  ): Promise<T> => {
    const connection = pool.free(weight);
    const lease =
      connection === undefined
        ? await pool.wait(weight)
        : { connection, batchInFlight: connection.inFlight.begin(weight) };
    const task = act(lease.connection).finally(() => {
      lease.connection.inFlight.end(lease.batchInFlight);
      pool.released(lease.connection);
    });
    const toError = (): StoreError => toTimeoutError(store, options.timeoutMs);
    return settleWithin(task, deadlineMs - monotonicMs(), toError);
  };

  const addWithLease = async (batch: CounterBatch, how: NodeCall): Promise<CounterReply> => {
    try {
      const weight = batch.increments.length;
      const reply = await withLease(weight, how, (connection) => send(connection, batch, how));
      if (reply.failures !== undefined) countUnknownOutcomes(reply.failures.values());
      return reply;
    } catch (error) {
      countUnknownOutcomes([error]);
      throw error;
    }
  };

  return {
    /** The server's address, as in messages. */
    store,
    address: options.address,
    /** See `KeptConnection`. */
    run$: pool.run$,
    /** See `createPool`. */
    get lacksScripts() {
      return pool.lacksScripts;
    },
    /** A connection for commands other than batches. */
    get anyConnection() {
      return pool.anyConnection;
    },
    /** Failed increments, even all of them, are in the reply; rejects when the call failed as a whole. */
    async add(batch: CounterBatch, how?: NodeCall) {
      const weight = batch.increments.length;
      const connection = how === undefined ? pool.free(weight) : undefined;
      if (connection === undefined) return addWithLease(batch, how ?? {});
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
    /** The current counts. */
    read: (keys: readonly string[], how: NodeCall & ReadOptions = {}): Promise<ReadCounts> =>
      withLease(keys.length, how, (connection) => readByPipeline(connection, keys, how)),
    /** Sends commands in order; rejects with the StoreError of the first that failed. */
    send: (commands: readonly PlainCommand[], how: NodeCall = {}): Promise<readonly unknown[]> =>
      withLease(commands.length, how, (connection) =>
        sendByPipeline(connection, commands, how.asking),
      ),
    readFields: (key: string, fields: readonly string[]) =>
      withLease(fields.length, {}, (connection) => readHashFields(connection, key, fields)),
    /** Waits for pending answers, at most `graceMs`, then disconnects. */
    close: (reason: string, graceMs?: number) => pool.close(reason, graceMs),
  };
}

export type RedisNode = ReturnType<typeof createNode>;

/** Warns once about what needs a script. */
function createWarning(
  { onEvent }: PoolDeps,
  store: string,
  kind: 'hold-back-not-atomic' | 'scripts-needed',
): () => void {
  return once(() => onEvent?.({ kind, store, reason: 'it does not accept scripts' }));
}

/** Settles as the task does, or with an error when its time is over; the task then continues. */
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

/** Reads fields of a hash by one command; null for missing ones. An answer of another shape is an error. */
async function readHashFields(
  connection: RedisConnection,
  key: string,
  fields: readonly string[],
): Promise<readonly (string | null)[]> {
  const ask = async (): Promise<unknown> => {
    try {
      return await connection.client.hmget(key, ...fields);
    } catch (error) {
      throw connection.toError(error);
    }
  };
  const answer = await ask();
  if (isTexts(answer) && answer.length === fields.length) return answer;
  throw new Error(
    `unexpected reply to HMGET of ${String(fields.length)} fields, expected a string or nil for each`,
  );
}

function isTexts(answer: unknown): answer is readonly (string | null)[] {
  return Array.isArray(answer) && answer.every((text) => typeof text === 'string' || text === null);
}

export async function peekAt(
  node: RedisNode,
  keys: readonly string[],
): Promise<ReadonlyMap<string, CounterReading>> {
  const read = await settled(() => node.read(keys, { withLives: true }));
  return new Map(keys.map((key) => [key, toReading(key, `Redis at ${node.store}`, read)]));
}

export function toReading(
  key: string,
  store: string,
  read: ReadCounts | StoreError,
): CounterReading {
  if (read instanceof StoreError) return unread(store, read);
  const { counts, livesMs, failures } = read;
  const lifeMs = livesMs.get(key);
  return {
    count: counts.get(key) ?? 0,
    expiresInSeconds: lifeMs === undefined ? undefined : Math.ceil(lifeMs / 1_000),
    store,
    error: failures.get(key),
  };
}
