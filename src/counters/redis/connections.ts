import type { RedisConnection } from './connection';
import { toReason } from '../../platform/errors';

interface PoolGrowthDeps {
  readonly monotonicMs: () => number;
  readonly open: () => Promise<RedisConnection>;
  readonly onOpen: (connection: RedisConnection) => void;
  readonly onFailure: (reason: string) => void;
}

/** After a server refused a connection, no other is tried for this time. */
export const PAUSE_AFTER_FAILURE_MS = 1_000;

/** Opens connections beside the main one when they are needed. */
export function createPoolGrowth(deps: PoolGrowthDeps, size: number) {
  const { monotonicMs, open, onOpen, onFailure } = deps;
  const kept = new Set<RedisConnection>();
  const beyond = new Set<RedisConnection>();
  let opening = 0;
  let notBeforeMs = -Infinity;

  const openInto = async (connections: Set<RedisConnection>): Promise<void> => {
    opening += 1;
    try {
      const connection = await open();
      connections.add(connection);
      void connection.retired.then(() => connections.delete(connection));
      opening -= 1;
      onOpen(connection);
    } catch (error) {
      opening -= 1;
      const isFirst = monotonicMs() >= notBeforeMs;
      notBeforeMs = monotonicMs() + PAUSE_AFTER_FAILURE_MS;
      if (isFirst) onFailure(toReason(error));
    }
  };
  const openMore = (connections: Set<RedisConnection>, needed: number, most: number): void => {
    if (monotonicMs() < notBeforeMs) return;
    while (opening < needed && connections.size + opening < most) void openInto(connections);
  };

  return {
    /** Number of connections that are being opened. */
    get opening() {
      return opening;
    },
    /** Opens connections until `needed` are being opened, as far as the pool is not full. */
    grow(needed: number) {
      openMore(kept, needed, size - 1);
    },
    /** One beyond the pool's size, which ends when nothing waits for it. */
    overflow() {
      openMore(beyond, 1, size);
    },
    /** A batch of this connection has ended. */
    released(connection: RedisConnection) {
      if (beyond.size === 0 || !beyond.has(connection)) return;
      if (connection.inFlight.size === 0) connection.retire('no longer needed');
    },
  };
}

/**
 * From this number of batches in flight on, a connection does not count as free. One connection can load a server fully; more of
 * them only help when its answers take long.
 */
export const MAX_BATCHES_IN_FLIGHT = 32;

/** Increments in flight on one connection. */
export const MAX_INCREMENTS_IN_FLIGHT = 65_536;

/** Unsent bytes, of a server that does not read. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

/** The open connections to one server: those that accept batches, the main one first, and those that are closing. */
export function createConnections() {
  const open = new Set<RedisConnection>();
  const usable: RedisConnection[] = [];
  const forget = (connection: RedisConnection): void => {
    const place = usable.indexOf(connection);
    if (place >= 0) usable.splice(place, 1);
  };
  return {
    /** Connections that accept batches. */
    usable,
    /** A connection with room for a batch of this size. */
    free(weight: number) {
      for (const connection of usable) if (isFree(connection, weight)) return connection;
      return undefined;
    },
    /**
     * When none is free, the one with the fewest batches; none that answers later than its round trip time: its server is slow or
     * hangs, and whether it counts what is sent then would be unknown.
     */
    leastBusy(weight: number, nowMs: number) {
      let least: RedisConnection | undefined;
      for (const connection of usable) {
        if (!hasRoom(connection, weight) || isLate(connection, nowMs)) continue;
        if (least === undefined || connection.inFlight.size < least.inFlight.size)
          least = connection;
      }
      return least;
    },
    /** Number of batches in flight. */
    countInFlight() {
      return usable.reduce((sum, { inFlight }) => sum + inFlight.size, 0);
    },
    /** Counts it among the open ones until it is closed. */
    add(connection: RedisConnection) {
      open.add(connection);
      void connection.closed.then(() => open.delete(connection));
    },
    /** Lets it accept batches until it is retired; then `onGone` is called. */
    use(connection: RedisConnection, place: 'first' | 'last', onGone: () => void) {
      if (place === 'first') usable.unshift(connection);
      else usable.push(connection);
      void connection.retired.then(() => {
        forget(connection);
        onGone();
      });
    },
    /** All may use scripts again. */
    allowScripts() {
      for (const connection of usable) connection.allowScripts();
    },
    retireAll(reason: string) {
      for (const connection of open) connection.retire(reason);
    },
    destroyAll(reason: string) {
      for (const connection of open) connection.destroy(reason);
    },
    /** Resolves when those that are open now are closed. */
    async closed() {
      await Promise.all([...open].map((connection) => connection.closed));
    },
  };
}

/** An idle connection accepts a batch of any size. */
function isFree(connection: RedisConnection, weight: number): boolean {
  const { inFlight, isRetired } = connection;
  if (isRetired) return false;
  if (inFlight.size === 0) return true;
  return inFlight.size < MAX_BATCHES_IN_FLIGHT && hasRoom(connection, weight);
}

function hasRoom({ client, inFlight, isRetired }: RedisConnection, weight: number): boolean {
  return (
    !isRetired &&
    inFlight.weight + weight <= MAX_INCREMENTS_IN_FLIGHT &&
    client.stream.writableLength <= MAX_UNSENT_BYTES
  );
}

/** An answer takes more than twice as long as the first round trip. */
function isLate({ inFlight, roundTripMs }: RedisConnection, nowMs: number): boolean {
  return nowMs - (inFlight.oldestSinceMs ?? nowMs) > roundTripMs * 2;
}
