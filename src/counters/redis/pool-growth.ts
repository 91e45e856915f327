import { toReason } from '../../platform/errors';
import { type RedisConnection } from './connection';

export interface PoolGrowthDeps {
  readonly monotonicMs: () => number;
  readonly open: () => Promise<RedisConnection>;
  readonly onOpen: (connection: RedisConnection) => void;
  readonly onFailure: (reason: string) => void;
}

/** A server that refuses a connection is not asked for another one before this time is over. */
const PAUSE_AFTER_FAILURE_MS = 1_000;

/** Opens connections beside the main one when they are needed. */
export function createPoolGrowth(deps: PoolGrowthDeps, size: number) {
  const { monotonicMs, open, onOpen, onFailure } = deps;
  const kept = new Set<RedisConnection>();
  const beyond = new Set<RedisConnection>();
  let isOpening = false;
  let notBeforeMs = -Infinity;

  const openInto = async (connections: Set<RedisConnection>): Promise<void> => {
    isOpening = true;
    try {
      const connection = await open();
      connections.add(connection);
      void connection.retired.then(() => connections.delete(connection));
      isOpening = false;
      onOpen(connection);
    } catch (error) {
      isOpening = false;
      notBeforeMs = monotonicMs() + PAUSE_AFTER_FAILURE_MS;
      onFailure(toReason(error));
    }
  };
  const mayOpen = (connections: Set<RedisConnection>, most: number): boolean =>
    !isOpening && connections.size < most && monotonicMs() >= notBeforeMs;

  return {
    /** Another connection of the pool, unless it is complete. */
    grow() {
      if (mayOpen(kept, size - 1)) void openInto(kept);
    },
    /** One beyond the pool's size, which ends when nothing waits for it. */
    overflow() {
      if (mayOpen(beyond, size)) void openInto(beyond);
    },
    /** A batch of this connection has ended. */
    released(connection: RedisConnection) {
      if (beyond.size === 0 || !beyond.has(connection)) return;
      if (connection.inFlight.size === 0) connection.retire('no longer needed');
    },
  };
}
