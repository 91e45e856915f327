import type { MemcachedEvent } from '../../counters/memcached/options';
import type { RedisEvent } from '../../counters/redis/options';

const AWAY: ReadonlySet<string> = new Set(['disconnected', 'unreachable', 'unresolved']);
const BACK: ReadonlySet<string> = new Set(['connected', 'resolved', 'left']);

/** Remembers the last server that was lost or could not be reached, until it is connected. */
export function createLastFailure() {
  let last: { readonly store: string; readonly reason: string } | undefined;
  return {
    note(event: RedisEvent | MemcachedEvent): void {
      const { kind, store } = event;
      if (AWAY.has(kind) && 'reason' in event) last = { store, reason: event.reason };
      else if (BACK.has(kind) && store === last?.store) last = undefined;
    },
    whyAway: () => (last === undefined ? undefined : `${last.store}: ${last.reason}`),
  };
}
