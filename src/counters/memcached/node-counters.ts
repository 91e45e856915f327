import { StoreError } from '../../core/errors';
import { type Count } from '../count';
import type { MemcachedConnection, NodeConnection, PendingCommand } from './connection';
import { getCommand, MAX_KEYS_PER_GET, parseCount } from './protocol';
import { checkIsError, type NodeErrors } from './store-errors';
import { createWriteBehind, type WriteBehindDeps } from './write-behind';

/** Replies to a successful delete or set. */
const DONE: ReadonlySet<string> = new Set(['DELETED', 'NOT_FOUND', 'STORED']);

export type Counts = Map<string, Count | StoreError>;

type ThenCounts = (counts: Counts | StoreError) => void;

/** Pending commands: more than a node answers within any sensible time-out. */
const MAX_WAITING = 65_536;

/** Unsent bytes, of a node that does not read. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

const NAMES = 'ratelimit.memcache';

/** The counters of one connection to a node. */
export function createNodeCounters(node: NodeConnection, deps: WriteBehindDeps) {
  const { statistics } = deps;
  const writes = createWriteBehind(node, deps);
  const count = (name: string, by = 1): void => statistics?.count(`${NAMES}.${name}`, by);

  const afterOurs = (key: string, held: Count | StoreError): Count | StoreError =>
    held instanceof StoreError ? held : writes.after(key, held);

  const withOurs = (keys: readonly string[], found: Counts): Counts =>
    new Map(keys.map((key) => [key, afterOurs(key, found.get(toWireKey(key)) ?? 0)]));

  return {
    writes,
    /** As `read`, for an operator: without statistics. */
    peek(keys: readonly string[], then: ThenCounts) {
      const connection = usableConnection(node);
      if (connection instanceof StoreError) then(connection);
      else
        readAll(connection, keys, node.errors, (found) => {
          then(found instanceof StoreError ? found : withOurs(keys, found));
        });
    },
    /** Sends one command for an operator; calls back with its failure, if any. */
    order(command: string, then: (failure: StoreError | undefined) => void) {
      const connection = usableConnection(node);
      if (connection instanceof StoreError) {
        then(connection);
        return;
      }
      const pending: PendingCommand = {
        onLine(line) {
          then(DONE.has(line) ? undefined : node.errors.answered(line));
          if (!DONE.has(line)) checkIsError(line, 'a command');
        },
        onLost: then,
      };
      connection.send(command, [pending]);
    },
    /**
     * Reads counters and gives, exactly once, the count of every key: the node's value plus the hits of this process that are not
     * yet added. A key that cannot be counted has its error instead.
     */
    read(keys: readonly string[], then: ThenCounts) {
      const connection = usableConnection(node);
      if (connection instanceof StoreError) {
        count('multiget.__code=error');
        then(connection);
        return;
      }
      count('keys_requested', keys.length);
      readAll(connection, keys, node.errors, (found) => {
        const isError = found instanceof StoreError;
        count(isError ? 'multiget.__code=error' : 'multiget.__code=success');
        if (isError) {
          then(found);
          return;
        }
        if (found.size > 0) count('keys_found', found.size);
        then(withOurs(keys, found));
      });
    },
  };
}

export type NodeCounters = ReturnType<typeof createNodeCounters>;

/** Lone halves of surrogate pairs become U+FFFD on the wire. */
function toWireKey(key: string): string {
  return Buffer.byteLength(key) === key.length ? key : Buffer.from(key).toString();
}

/** An idle connection accepts a batch of any size. */
function usableConnection({ kept, errors }: NodeConnection): MemcachedConnection | StoreError {
  const { current: connection } = kept;
  if (connection === undefined) return errors.unavailable(kept.reason);
  const isFull = connection.size > MAX_WAITING || connection.unsentBytes > MAX_UNSENT_BYTES;
  return isFull ? errors.unavailable('too many calls are waiting for a reply') : connection;
}

/** Reads all keys in one write; an error of one command fails all. */
function readAll(
  connection: MemcachedConnection,
  keys: readonly string[],
  errors: NodeErrors,
  then: ThenCounts,
): void {
  const found: Counts = new Map();
  let error: StoreError | undefined;
  let commands = '';
  const pending: PendingCommand[] = [];
  let left = Math.ceil(keys.length / MAX_KEYS_PER_GET);
  const settleOne = (fault: StoreError | undefined): void => {
    error ??= fault;
    left -= 1;
    if (left === 0) then(error ?? found);
  };
  const command: PendingCommand = {
    onValue: (key, data) => found.set(key, parseCount(data)),
    onLine: (line) => {
      const isEnd = line === 'END';
      settleOne(isEnd ? undefined : errors.answered(line));
      if (!isEnd) checkIsError(line, 'get');
    },
    onLost: settleOne,
  };
  for (let at = 0; at < keys.length; at += MAX_KEYS_PER_GET) {
    commands += getCommand(keys.slice(at, at + MAX_KEYS_PER_GET));
    pending.push(command);
  }
  connection.send(commands, pending);
}
