import { type RedisConnection } from './connection';

/**
 * Batches in flight from which on a connection does not count as free. One connection carries what a
 * server can do; more of them only help when its answers take long.
 */
export const MAX_BATCHES_IN_FLIGHT = 32;

/** Increments that may wait for the answers of one connection. */
export const MAX_INCREMENTS_IN_FLIGHT = 65_536;

/** Bytes that may wait for the socket of a server that does not read. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

/** The open connections to one server: those that take batches, the main one first, and those that are closing. */
export function createConnections() {
  const open = new Set<RedisConnection>();
  const usable: RedisConnection[] = [];
  const forget = (connection: RedisConnection): void => {
    const place = usable.indexOf(connection);
    if (place >= 0) usable.splice(place, 1);
  };
  return {
    /** Connections that take batches. */
    usable,
    /** One that is free for a batch of so many increments. */
    free(weight: number) {
      for (const connection of usable) if (isFree(connection, weight)) return connection;
      return undefined;
    },
    /**
     * When none is free, the one with the fewest batches. None whose answers take longer than the way: its server is slow or
     * hangs, and of what is sent to it then it would not be known whether it is counted.
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
    /** Batches that wait for their answers. */
    countInFlight() {
      return usable.reduce((sum, { inFlight }) => sum + inFlight.size, 0);
    },
    /** Counts it among the open ones until it is closed. */
    add(connection: RedisConnection) {
      open.add(connection);
      void connection.closed.then(() => open.delete(connection));
    },
    /** Lets it take batches until it is retired; then `onGone` is called. */
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

/** An idle connection takes one batch, however large. */
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

/** An answer takes more than twice as long as the first one that came. */
function isLate({ inFlight, roundTripMs }: RedisConnection, nowMs: number): boolean {
  return nowMs - (inFlight.oldestSinceMs ?? nowMs) > roundTripMs * 2;
}
