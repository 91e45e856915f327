import { toReason } from '../../platform/errors';
import { type RedisConnection } from './connection';

export interface PoolGrowthDeps {
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
