import { type RedisConnection } from './connection';

/** The open connections to one server: those that take batches, the main one first, and those that are closing. */
export interface RedisConnections {
  /** Connections that take batches. */
  readonly usable: readonly RedisConnection[];
  /** One that is free for a batch of so many increments. */
  free(weight: number): RedisConnection | undefined;
  /** Counts it among the open ones until it is closed. */
  add(connection: RedisConnection): void;
  /** Lets it take batches until it is retired; then `onGone` is called. */
  use(connection: RedisConnection, place: 'first' | 'last', onGone: () => void): void;
  /** All may use scripts again. */
  readonly allowScripts: () => void;
  retireAll(reason: string): void;
  destroyAll(reason: string): void;
  /** Resolves when those that are open now are closed. */
  closed(): Promise<void>;
}

/**
 * Batches in flight from which on a connection does not count as free. One connection carries what a
 * server can do; more of them only help when its answers take long.
 */
export const MAX_BATCHES_IN_FLIGHT = 32;

/** Increments that may wait for the answers of one connection. */
export const MAX_INCREMENTS_IN_FLIGHT = 65_536;

/** Bytes that may wait for the socket of a server that does not read. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

export function createConnections(): RedisConnections {
  const open = new Set<RedisConnection>();
  const usable: RedisConnection[] = [];
  const forget = (connection: RedisConnection): void => {
    const place = usable.indexOf(connection);
    if (place >= 0) usable.splice(place, 1);
  };
  return {
    usable,
    free(weight) {
      for (const connection of usable) if (isFree(connection, weight)) return connection;
      return undefined;
    },
    add(connection) {
      open.add(connection);
      void connection.closed.then(() => open.delete(connection));
    },
    use(connection, place, onGone) {
      if (place === 'first') usable.unshift(connection);
      else usable.push(connection);
      void connection.retired.then(() => {
        forget(connection);
        onGone();
      });
    },
    allowScripts() {
      for (const connection of usable) connection.allowScripts();
    },
    retireAll(reason) {
      for (const connection of open) connection.retire(reason);
    },
    destroyAll(reason) {
      for (const connection of open) connection.destroy(reason);
    },
    async closed() {
      await Promise.all([...open].map((connection) => connection.closed));
    },
  };
}

/** An idle connection takes one batch, however large. */
function isFree({ client, inFlight, isRetired }: RedisConnection, weight: number): boolean {
  if (isRetired) return false;
  if (inFlight.size === 0) return true;
  return (
    inFlight.size < MAX_BATCHES_IN_FLIGHT &&
    inFlight.weight + weight <= MAX_INCREMENTS_IN_FLIGHT &&
    client.stream.writableLength <= MAX_UNSENT_BYTES
  );
}
