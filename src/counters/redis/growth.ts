import { toReason } from '../../platform/errors';
import { type Link } from './link';

/** Opens connections beside the main one when they are needed. */
export interface Growth {
  /** Another connection of the pool, unless it is complete. */
  grow(): void;
  /** One beyond the pool's size, which ends when nothing waits for it. */
  overflow(): void;
  /** A batch of this connection has ended. */
  released(link: Link): void;
}

export interface GrowthDeps {
  readonly monotonicMs: () => number;
  readonly open: () => Promise<Link>;
  readonly onOpen: (link: Link) => void;
  readonly onFailure: (reason: string) => void;
}

/** A server that refuses a connection is not asked for another one before this time is over. */
const PAUSE_AFTER_FAILURE_MS = 1_000;

export function createGrowth(deps: GrowthDeps, size: number): Growth {
  const { monotonicMs, open, onOpen, onFailure } = deps;
  const kept = new Set<Link>();
  const beyond = new Set<Link>();
  let isOpening = false;
  let notBeforeMs = -Infinity;

  const openInto = async (links: Set<Link>): Promise<void> => {
    isOpening = true;
    try {
      const link = await open();
      links.add(link);
      void link.retired.then(() => links.delete(link));
      isOpening = false;
      onOpen(link);
    } catch (error) {
      isOpening = false;
      notBeforeMs = monotonicMs() + PAUSE_AFTER_FAILURE_MS;
      onFailure(toReason(error));
    }
  };
  const mayOpen = (links: Set<Link>, most: number): boolean =>
    !isOpening && links.size < most && monotonicMs() >= notBeforeMs;

  return {
    grow() {
      if (mayOpen(kept, size - 1)) void openInto(kept);
    },
    overflow() {
      if (mayOpen(beyond, size)) void openInto(beyond);
    },
    released(link) {
      if (beyond.size === 0 || !beyond.has(link)) return;
      if (link.exchanges.size === 0) link.retire('no longer needed');
    },
  };
}
