import { type Observable } from 'rxjs';
import { type StoreError } from '../../core/errors';
import { toAddressText } from './address';
import { createConnection } from './connection';
import { createGrowth } from './growth';
import { type Link } from './link';
import { createLinks, MAX_BATCHES_IN_FLIGHT, MAX_INCREMENTS_IN_FLIGHT } from './links';
import { openLink } from './open-link';
import { type NodeOptions, type PoolOptions, type RedisCountersDeps } from './options';
import { toNeverSentError, toUnavailableError } from './store-errors';
import { type StoreStatistics } from './store-statistics';
import { createWaitingLine, type Turn } from './waiting-line';

/** The connections to one server. */
export interface Pool {
  readonly store: string;
  /** Any connection, for questions that are no batches. */
  readonly anyLink: Link | undefined;
  readonly connected$: Observable<boolean>;
  /** See `Connection`. */
  readonly run$: Observable<never>;
  /** A connection that is free for a batch of so many increments; undefined when it has to wait. */
  free(weight: number): Link | undefined;
  /**
   * Waits for one. Rejects with a StoreError at once when there is no connection at all, unless the
   * first one is on its way and `isPatient` says that it is worth the wait.
   */
  wait(weight: number): Promise<Turn>;
  /** A batch of this connection has ended. */
  released(link: Link): void;
  /** Lets what is open settle, for so long at most, then disconnects. */
  close(reason: string, graceMs?: number): Promise<void>;
}

export interface PoolDeps extends RedisCountersDeps {
  readonly storeStatistics: StoreStatistics;
  /** The server came (true), or went or did not come (false). */
  readonly onPresence?: (isThere: boolean) => void;
}

const ONE_CONNECTION: PoolOptions = { size: 1, onEmpty: 'wait', onEmptyWaitMs: 0 };

/** With this many batches in flight on the last connection another one is opened beforehand. */
const EARLY_GROWTH = MAX_BATCHES_IN_FLIGHT / 2;

export function createPool(deps: PoolDeps, options: NodeOptions): Pool {
  const { monotonicMs, onEvent, storeStatistics, onPresence } = deps;
  const { timeoutMs, pool = ONE_CONNECTION, isPatient = false } = options;
  const store = toAddressText(options.address);
  const stopping = new AbortController();
  const links = createLinks();
  let isAway = false;

  const linkDeps = {
    store,
    monotonicMs,
    onScriptsRefused: (reason: string) => onEvent?.({ kind: 'scripts-refused', store, reason }),
    onServerFault: (reason: string) => {
      links.retireAll(reason);
    },
  };
  const open = async (attemptMs: number): Promise<Link> => {
    const link = await openLink(linkDeps, { ...options, attemptMs, signal: stopping.signal });
    links.add(link);
    storeStatistics.opened();
    void link.closed.then(() => {
      storeStatistics.closed();
    });
    return link;
  };

  const serve = (): void => {
    line.serve((weight) => {
      const link = links.free(weight);
      return link && { link, exchange: link.exchanges.begin(weight) };
    });
    if (line.isOverdue && pool.onEmpty === 'create') growth.overflow();
  };
  const use = (link: Link, place: 'first' | 'last'): void => {
    isAway = false;
    links.use(link, place, () => {
      if (links.usable.length === 0) line.rejectAll(awayError());
    });
    serve();
  };
  const awayError = (): StoreError => toUnavailableError(store, connection.reason);

  const growth = createGrowth(
    {
      monotonicMs,
      open: () => open(timeoutMs),
      onOpen: (link) => {
        use(link, 'last');
      },
      onFailure: (reason) => onEvent?.({ kind: 'pool-not-grown', store, reason }),
    },
    pool.size,
  );
  const line = createWaitingLine({
    timeoutMs,
    toTimeoutError: () => toNeverSentError(store, timeoutMs),
    overdueMs: pool.onEmptyWaitMs,
    onOverdue() {
      if (pool.onEmpty === 'create') growth.overflow();
      return pool.onEmpty === 'error' ? toEmptyError(store, pool) : undefined;
    },
  });

  const connection = createConnection(
    {
      ...deps,
      store,
      open,
      onOpen(link) {
        use(link, 'first');
        onPresence?.(true);
      },
      onAway(reason) {
        isAway = true;
        if (links.usable.length === 0) line.rejectAll(toUnavailableError(store, reason));
        onPresence?.(false);
      },
      onEnd() {
        stopping.abort();
        links.destroyAll('the counters are no longer run');
      },
    },
    options,
  );

  return {
    store,
    get anyLink() {
      return links.usable[0];
    },
    connected$: connection.connected$,
    run$: connection.run$,
    free(weight) {
      const link = links.free(weight);
      if (link === undefined || link.exchanges.size < EARLY_GROWTH) return link;
      if (link === links.usable.at(-1)) growth.grow();
      return link;
    },
    async wait(weight) {
      const isComing = isPatient && !isAway;
      const isThere = links.usable.length > 0 || isComing;
      if (!isThere || stopping.signal.aborted) throw awayError();
      const isCrowded = line.size > 0 && line.weight + weight > MAX_INCREMENTS_IN_FLIGHT;
      if (isCrowded) throw toUnavailableError(store, 'too much waits for its answer');
      growth.grow();
      return line.join(weight);
    },
    released(link) {
      if (line.size > 0) serve();
      growth.released(link);
    },
    async close(reason, graceMs) {
      connection.stop(reason);
      stopping.abort();
      line.rejectAll(toUnavailableError(store, reason));
      links.retireAll(reason);
      const timer = setTimeout(
        () => {
          links.destroyAll(reason);
        },
        graceMs ?? timeoutMs * 2,
      );
      await links.closed();
      clearTimeout(timer);
      connection.end();
    },
  };
}

function toEmptyError(store: string, { size, onEmptyWaitMs }: PoolOptions): StoreError {
  const what = `none of its ${String(size)} connections was free within ${String(onEmptyWaitMs)} ms`;
  return toUnavailableError(store, what);
}
