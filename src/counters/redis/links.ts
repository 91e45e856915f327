import { type Link } from './link';

/** The open connections to one server: those that take batches, the main one first, and those that end. */
export interface Links {
  /** Connections that take batches. */
  readonly usable: readonly Link[];
  /** One that is free for a batch of so many increments. */
  free(weight: number): Link | undefined;
  /** Counts it among the open ones until it is closed. */
  add(link: Link): void;
  /** Lets it take batches until it is retired; then `onGone` is called. */
  use(link: Link, place: 'first' | 'last', onGone: () => void): void;
  retireAll(reason: string): void;
  destroyAll(reason: string): void;
  /** Resolves when those that are open now are closed. */
  closed(): Promise<void>;
}

/**
 * Batches in flight with which a connection counts as free no longer. One connection carries what a
 * server can do; more of them only help when its answers take long.
 */
export const MAX_BATCHES_IN_FLIGHT = 32;

/** Increments that may wait for the answers of one connection. */
export const MAX_INCREMENTS_IN_FLIGHT = 65_536;

/** Bytes that may wait for the socket of a server that does not read. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

export function createLinks(): Links {
  const open = new Set<Link>();
  const usable: Link[] = [];
  const forget = (link: Link): void => {
    const place = usable.indexOf(link);
    if (place >= 0) usable.splice(place, 1);
  };
  return {
    usable,
    free(weight) {
      for (const link of usable) if (isFree(link, weight)) return link;
      return undefined;
    },
    add(link) {
      open.add(link);
      void link.closed.then(() => open.delete(link));
    },
    use(link, place, onGone) {
      if (place === 'first') usable.unshift(link);
      else usable.push(link);
      void link.retired.then(() => {
        forget(link);
        onGone();
      });
    },
    retireAll(reason) {
      for (const link of open) link.retire(reason);
    },
    destroyAll(reason) {
      for (const link of open) link.destroy(reason);
    },
    async closed() {
      await Promise.all([...open].map((link) => link.closed));
    },
  };
}

/** An idle connection takes one batch, however large. */
function isFree({ client, exchanges, isRetired }: Link, weight: number): boolean {
  if (isRetired) return false;
  if (exchanges.size === 0) return true;
  return (
    exchanges.size < MAX_BATCHES_IN_FLIGHT &&
    exchanges.weight + weight <= MAX_INCREMENTS_IN_FLIGHT &&
    client.stream.writableLength <= MAX_UNSENT_BYTES
  );
}
