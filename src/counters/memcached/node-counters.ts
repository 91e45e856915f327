import { StoreError } from '../../core/errors';
import { createAdds, type Adds, type AddsDeps } from './adds';
import { getCommand, MOST_KEYS_PER_GET } from './commands';
import { parseCount, type Count } from './count';
import { type Exchange } from './exchanges';
import { type Lane } from './lane';
import { type Link } from './link';
import { checkIsError } from './store-errors';

/** The counters that one connection takes. */
export interface LaneCounts {
  readonly lane: Lane;
  /**
   * Reads counters and gives, exactly once, the count of every key: what the node holds and, after it,
   * the hits of ours that are still on their way there. A key's error stands in its place.
   */
  read(keys: readonly string[], then: (counts: Counts | StoreError) => void): void;
  readonly adds: Adds;
}

export type Counts = Map<string, Count | StoreError>;

/** Commands that may wait for replies; more than a node answers within any sensible time-out. */
const MAX_WAITING = 65_536;

/** Bytes that may wait for the socket of a node that does not read. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;

const NAMES = 'ratelimit.memcache';

export function createLaneCounts(lane: Lane, deps: AddsDeps): LaneCounts {
  const { statistics } = deps;
  const adds = createAdds(lane, deps);
  const count = (name: string, by = 1): void => statistics?.count(`${NAMES}.${name}`, by);

  const afterOurs = (key: string, held: Count | StoreError): Count | StoreError =>
    held instanceof StoreError ? held : adds.after(key, held);

  return {
    lane,
    adds,
    read(keys, then) {
      const link = usableLink(lane);
      if (link instanceof StoreError) {
        count('multiget.__code=error');
        then(link);
        return;
      }
      count('keys_requested', keys.length);
      readAll(link, keys, lane, (found) => {
        const isError = found instanceof StoreError;
        count(isError ? 'multiget.__code=error' : 'multiget.__code=success');
        if (isError) {
          then(found);
          return;
        }
        if (found.size > 0) count('keys_found', found.size);
        then(new Map(keys.map((key) => [key, afterOurs(key, found.get(toWireKey(key)) ?? 0)])));
      });
    },
  };
}

/** Lone halves of surrogate pairs become U+FFFD on the wire. */
function toWireKey(key: string): string {
  return Buffer.byteLength(key) === key.length ? key : Buffer.from(key).toString();
}

/** One batch is always let in, however large. */
function usableLink(lane: Lane): Link | StoreError {
  const { link, errors, reason } = lane;
  if (link === undefined) return errors.unavailable(reason);
  const isFull = link.size > MAX_WAITING || link.unsentBytes > MAX_UNSENT_BYTES;
  return isFull ? errors.unavailable('too much waits for its answer') : link;
}

/** Asks for all keys in one write; what is answered belongs to all of them or is one error. */
function readAll(
  link: Link,
  keys: readonly string[],
  lane: Lane,
  then: (found: Counts | StoreError) => void,
): void {
  const found: Counts = new Map();
  let error: StoreError | undefined;
  let commands = '';
  const exchanges: Exchange[] = [];
  let left = Math.ceil(keys.length / MOST_KEYS_PER_GET);
  const settleOne = (fault: StoreError | undefined): void => {
    error ??= fault;
    left -= 1;
    if (left === 0) then(error ?? found);
  };
  const exchange: Exchange = {
    onValue: (key, data) => found.set(key, parseCount(data)),
    onLine: (line) => {
      const isEnd = line === 'END';
      settleOne(isEnd ? undefined : lane.errors.answered(line));
      if (!isEnd) checkIsError(line, 'get');
    },
    onLost: settleOne,
  };
  for (let at = 0; at < keys.length; at += MOST_KEYS_PER_GET) {
    commands += getCommand(keys.slice(at, at + MOST_KEYS_PER_GET));
    exchanges.push(exchange);
  }
  link.send(commands, exchanges);
}
