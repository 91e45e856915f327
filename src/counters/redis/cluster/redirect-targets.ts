import { type RedisNode } from '../node';
import { type RedisCountersDeps, type RedisEvent } from '../options';

export interface RedirectTargetsDeps extends Pick<RedisCountersDeps, 'monotonicMs'> {
  readonly onEvent: RedisCountersDeps['onEvent'] | undefined;
  /** The cluster's name in messages. */
  readonly store: string;
}

/** A node without slots is kept for this long after a redirect has named it. */
const KEPT_MS = 10_000;
/** A healthy node names few others before the slots are read anew. */
const MAX_TARGETS = 32;

/** Nodes that redirects have named and that own no known slot: few, and each for a while. */
export function createRedirectTargets({ monotonicMs, onEvent, store }: RedirectTargetsDeps) {
  const namedMs = new Map<RedisNode, number>();
  let isAstray = false;

  const report = (reason: string): void => {
    isAstray = true;
    onEvent?.({ kind: 'redirects-astray', store, reason });
  };
  const isTarget = (name: string): boolean => {
    for (const node of namedMs.keys()) if (node.store === name) return true;
    return false;
  };
  return {
    get nodes() {
      return namedMs.keys();
    },
    /** A redirect names this one again. */
    keep(node: RedisNode) {
      namedMs.set(node, monotonicMs());
    },
    isFull() {
      if (namedMs.size < MAX_TARGETS) return false;
      report(`more than ${String(MAX_TARGETS)} addresses that own no slot`);
      return true;
    },
    /** Removes those that own slots, and those that were not named recently. */
    drop(owners: ReadonlySet<RedisNode>) {
      const oldestMs = monotonicMs() - KEPT_MS;
      for (const [node, sinceMs] of namedMs)
        if (owners.has(node) || sinceMs < oldestMs) namedMs.delete(node);
      if (!isAstray || namedMs.size > 0) return;
      isAstray = false;
      onEvent?.({ kind: 'redirects-followed', store });
    },
    /** An event of a node: all unreachable nodes that redirects name are one outage of the store. */
    onEvent: (event: RedisEvent) => {
      if (event.kind === 'unreachable' && isTarget(event.store))
        report(`${event.store}: ${event.reason}`);
      else onEvent?.(event);
    },
  };
}

export type RedirectTargets = ReturnType<typeof createRedirectTargets>;
