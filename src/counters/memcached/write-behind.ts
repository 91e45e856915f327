import { StoreError } from '../../core/errors';
import { type Increment, type Statistics } from '../../core/ports';
import { addHits, type Count } from '../count';
import type { NodeConnection, PendingCommand } from './connection';
import { addCommand, changeCommand, toExpiry } from './protocol';
import { checkIsError } from './store-errors';

export type ThenCount = (after: Count | StoreError) => void;

export interface WriteBehindDeps {
  readonly statistics: Pick<Statistics, 'count'> | undefined;
  /** Hits that were answered could not be added. */
  readonly onNotAdded: (error: StoreError, hits: Count) => void;
  readonly onAdded: () => void;
}

/** Hits of one key in one command. */
interface PendingAdd {
  hits: Count;
  readonly expiry: number;
  /** It needs its exact count: no other hits may join it. */
  readonly then?: ThenCount | undefined;
}

/** The hits of one key: those sent and not confirmed, and those queued after them. */
interface Queue {
  sent: PendingAdd;
  readonly waiting: PendingAdd[];
}

const NAMES = 'ratelimit.memcache';

/** Adds answered hits on a node in the background. */
export function createWriteBehind(
  node: NodeConnection,
  { statistics, onNotAdded, onAdded }: WriteBehindDeps,
) {
  const queues = new Map<string, Queue>();
  const count = (name: string): void => statistics?.count(`${NAMES}.${name}`, 1);

  const send = (command: string, pending: PendingCommand): void => {
    const { kept, errors } = node;
    if (kept.current === undefined) pending.onLost(errors.unavailable(kept.reason));
    else kept.current.send(command, [pending]);
  };

  const next = (key: string, queue: Queue): void => {
    const waiting = queue.waiting.shift();
    if (waiting === undefined) {
      queues.delete(key);
      return;
    }
    queue.sent = waiting;
    change(key, queue, false);
  };

  const giveUp = (key: string, queue: Queue, kind: string, error: StoreError): void => {
    count(`${kind}.__code=error`);
    const { hits, then } = queue.sent;
    if (then === undefined) onNotAdded(error, hits);
    else then(error);
    next(key, queue);
  };

  const added = (key: string, queue: Queue, after: Count): void => {
    onAdded();
    queue.sent.then?.(after);
    next(key, queue);
  };

  const refuse = (key: string, queue: Queue, kind: string, line: string): void => {
    giveUp(key, queue, kind, node.errors.answered(line));
    if (line !== 'NOT_FOUND') checkIsError(line, kind);
  };

  const change = (key: string, queue: Queue, isLast: boolean): void => {
    send(changeCommand(key, queue.sent.hits), {
      onLine(line) {
        if (/^\d/.test(line)) {
          count('increment.__code=success');
          added(key, queue, Number.parseInt(line, 10));
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
          added(key, queue, hits);
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

  const open = (key: string, sent: PendingAdd): void => {
    const opened: Queue = { sent, waiting: [] };
    queues.set(key, opened);
    change(key, opened, false);
  };

  return {
    /** Keys with pending hits. */
    get size() {
      return queues.size;
    },
    /** Adds hits in the background, in order; hits of one key wait for the reply to earlier ones and are then sent together. */
    add(increments: readonly Increment[], nowSeconds: number) {
      for (const { key, hits, ttlSeconds } of increments) {
        const queue = queues.get(key);
        const expiry = toExpiry(ttlSeconds, nowSeconds);
        if (queue === undefined) open(key, { hits, expiry });
        else enqueue(queue, hits, expiry);
      }
    },
    /** Adds hits in their turn, by themselves, and gives the node's count after them, or why it is unknown. */
    addExact({ key, hits, ttlSeconds }: Increment, nowSeconds: number, then: ThenCount) {
      const queue = queues.get(key);
      const pending = { hits, expiry: toExpiry(ttlSeconds, nowSeconds), then };
      if (queue === undefined) open(key, pending);
      else queue.waiting.push(pending);
    },
    /** A count that was just read, plus the pending hits. */
    after(key: string, held: Count) {
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
 * Adds hits to the queue, which never holds more than one refund command followed by one adding command: counters stop at 0, and
 * any sequence of both has the same result as those two. Hits that need their exact count stay separate.
 */
function enqueue({ waiting }: Pick<Queue, 'waiting'>, hits: Count, expiry: number): void {
  const last = waiting.at(-1);
  if (last === undefined || last.then !== undefined || (last.hits < 0 && hits >= 0)) {
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

/** The sum of hits of one sign. */
export function sumHits(one: Count, other: Count): Count {
  if (typeof one === 'number' && typeof other === 'number' && Number.isSafeInteger(one + other))
    return one + other;
  return BigInt(one) + BigInt(other);
}
