import { StoreError } from '../../core/errors';
import { type Increment, type Statistics } from '../../core/ports';
import { addCommand, changeCommand, toExpiry } from './commands';
import { addHits, sumHits, type Count } from './count';
import { type Exchange } from './exchanges';
import { type Lane } from './lane';
import { checkIsError } from './store-errors';

/** Hits that were answered and are on their way to a node. */
export interface Adds {
  /** Keys with hits on their way. */
  readonly size: number;
  /** Adds hits in the background, in order; hits of one key wait for those before and go together. */
  add(increments: readonly Increment[], nowSeconds: number): void;
  /** A count that was read just now, and after it the hits that it cannot hold yet. */
  after(key: string, count: Count): Count | StoreError;
}

export interface AddsDeps {
  readonly statistics: Pick<Statistics, 'count'> | undefined;
  /** Hits that were answered could not be added. */
  readonly onNotAdded: (error: StoreError) => void;
}

/** Hits of one key that go in one command. */
interface Parcel {
  hits: Count;
  readonly expiry: number;
}

/** The hits of one key: what was sent and not confirmed, and what waits for that. */
interface Queue {
  sent: Parcel;
  readonly waiting: Parcel[];
}

const NAMES = 'ratelimit.memcache';

export function createAdds(lane: Lane, { statistics, onNotAdded }: AddsDeps): Adds {
  const queues = new Map<string, Queue>();
  const count = (name: string): void => statistics?.count(`${NAMES}.${name}`, 1);

  const send = (command: string, exchange: Exchange): void => {
    const { link, errors, reason } = lane;
    if (link === undefined) exchange.onLost(errors.unavailable(reason));
    else link.send(command, [exchange]);
  };

  const next = (key: string, queue: Queue): void => {
    const parcel = queue.waiting.shift();
    if (parcel === undefined) {
      queues.delete(key);
      return;
    }
    queue.sent = parcel;
    change(key, queue, false);
  };

  const giveUp = (key: string, queue: Queue, kind: string, error: StoreError): void => {
    count(`${kind}.__code=error`);
    onNotAdded(error);
    next(key, queue);
  };

  const refuse = (key: string, queue: Queue, kind: string, line: string): void => {
    giveUp(key, queue, kind, lane.errors.answered(line));
    if (line !== 'NOT_FOUND') checkIsError(line, kind);
  };

  const change = (key: string, queue: Queue, isLast: boolean): void => {
    send(changeCommand(key, queue.sent.hits), {
      onLine(line) {
        if (/^\d/.test(line)) {
          count('increment.__code=success');
          next(key, queue);
        } else if (line === 'NOT_FOUND' && !isLast) {
          count('increment.__code=miss');
          create(key, queue);
        } else refuse(key, queue, 'increment', line);
      },
      onLost(error) {
        giveUp(key, queue, 'increment', error);
      },
    });
  };

  const create = (key: string, queue: Queue): void => {
    const { hits, expiry } = queue.sent;
    send(addCommand(key, hits, expiry), {
      onLine(line) {
        if (line === 'STORED') {
          count('add.__code=success');
          next(key, queue);
        } else if (line === 'NOT_STORED') {
          count('add.__code=not_stored');
          change(key, queue, true);
        } else refuse(key, queue, 'add', line);
      },
      onLost(error) {
        giveUp(key, queue, 'add', error);
      },
    });
  };

  return {
    get size() {
      return queues.size;
    },
    add(increments, nowSeconds) {
      for (const { key, hits, ttlSeconds } of increments) {
        const queue = queues.get(key);
        if (queue !== undefined) {
          enqueue(queue, hits, toExpiry(ttlSeconds, nowSeconds));
          continue;
        }
        const sent = { hits, expiry: toExpiry(ttlSeconds, nowSeconds) };
        const opened: Queue = { sent, waiting: [] };
        queues.set(key, opened);
        change(key, opened, false);
      }
    },
    after(key, held) {
      const queue = queues.get(key);
      if (queue === undefined) return held;
      let value = addHits(held, queue.sent.hits);
      for (const { hits } of queue.waiting) {
        if (value instanceof StoreError) return value;
        value = addHits(value, hits);
      }
      return value;
    },
  };
}

/**
 * Adds hits to what waits, which is never more than a parcel that gives back and then one that takes: counters stop at 0,
 * and any order of both comes to the same as those two.
 */
function enqueue({ waiting }: Pick<Queue, 'waiting'>, hits: Count, expiry: number): void {
  const last = waiting.at(-1);
  if (last === undefined || (last.hits < 0 && hits >= 0)) {
    waiting.push({ hits, expiry });
    return;
  }
  const sum = sumHits(last.hits, hits);
  if (last.hits < 0 || hits >= 0 || sum >= 0) {
    last.hits = sum;
    return;
  }
  waiting.pop();
  enqueue({ waiting }, sum, expiry);
}
