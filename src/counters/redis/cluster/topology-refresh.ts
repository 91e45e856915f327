import { merge, timer, type Observable } from 'rxjs';
import { createSnapshot, createStopSignal, exhaustLatest, fromTask } from '../../../../streams';
import { type HostAndPort } from '../options';
import { type NodeSet } from '../node-set';
import { type RedisCountersDeps } from '../options';
import { toReason } from '../../../platform/errors';
import { type ClusterNodes } from './cluster-nodes';
import { readSlotMap, type SlotMap } from './slots';

/** Keeps what is known of a cluster's slots up to date. */
export interface Watch {
  /** Why nothing is known. */
  readonly reason: string;
  readonly run$: Observable<never>;
  /** Something hints that slots have moved. */
  wake(): void;
  close(): void;
}

export interface WatchDeps extends Pick<RedisCountersDeps, 'monotonicMs'> {
  readonly onEvent: RedisCountersDeps['onEvent'] | undefined;
  readonly fleet: NodeSet;
  readonly members: ClusterNodes;
  /** Slots have been placed. */
  readonly onPlaced: () => void;
}

export interface WatchOptions {
  readonly store: string;
  readonly seeds: readonly HostAndPort[];
  readonly answerMs: number;
}

/** How often is looked whether there is a reason to ask: an owner without a connection is one. */
const LOOK_EVERY_MS = 500;
/** Without a reason nodes are asked this often. */
const ASK_EVERY_MS = 5_000;
/** Hints do not make nodes be asked more often than this. */
const ASK_AT_MOST_EVERY_MS = 50;
/** A node that takes longer is passed over. */
const ANSWER_MS = 500;

export function createWatch(deps: WatchDeps, options: WatchOptions): Watch {
  const { monotonicMs, onEvent, fleet, members, onPlaced } = deps;
  const { store, seeds } = options;
  const answerMs = Math.min(options.answerMs, ANSWER_MS);
  const hints = createSnapshot(0);
  const stopped = createStopSignal();
  let reason = 'no node has said yet how slots are placed';
  let isWanted = true;
  let askedMs = -Infinity;
  let turn = 0;
  let isToldOff = false;

  /** The first trusted answer of the nodes that are connected, each time beginning with another. */
  const ask = async (): Promise<SlotMap | undefined> => {
    const nodes = fleet.nodes.filter(({ anyConnection }) => anyConnection !== undefined);
    turn += 1;
    askedMs = nodes.length === 0 ? -Infinity : monotonicMs();
    let doubtful: SlotMap | undefined;
    for (let at = 0; at < nodes.length; at += 1) {
      const { anyConnection, store: name } = nodes[(turn + at) % nodes.length] ?? {};
      if (anyConnection === undefined || name === undefined) continue;
      try {
        const map = await readSlotMap(anyConnection, hostOf(name), answerMs);
        if (map.isTrusted) return map;
        doubtful ??= map;
      } catch (error) {
        reason = `${name}: ${toReason(error)}`;
      }
    }
    return doubtful;
  };

  const look = async (signal: AbortSignal): Promise<undefined> => {
    if (!isDue()) return;
    isWanted = false;
    const map = await ask();
    if (signal.aborted) return;
    if (map === undefined) {
      // All that were known are away: those of the settings may lead to others.
      for (const { host, port } of seeds) fleet.node({ kind: 'tcp', host, port });
      isWanted = true;
      tellOff();
      return;
    }
    isToldOff = false;
    const nodes = members.place(map.ranges);
    if (nodes !== undefined) onEvent?.({ kind: 'slots-changed', store, nodes });
    onPlaced();
  };
  const isDue = (): boolean => {
    const sinceMs = monotonicMs() - askedMs;
    if (sinceMs < ASK_AT_MOST_EVERY_MS) return false;
    return isWanted || sinceMs >= ASK_EVERY_MS || !members.isComplete();
  };
  const tellOff = (): void => {
    const isEarly = !members.isKnown && fleet.nodes.every(({ anyConnection }) => anyConnection === undefined);
    if (isToldOff || isEarly) return;
    isToldOff = true;
    onEvent?.({ kind: 'slots-unknown', store, reason });
  };

  return {
    get reason() {
      return reason;
    },
    run$: merge(timer(0, LOOK_EVERY_MS), hints.changes$).pipe(
      exhaustLatest(() => fromTask<never>(look)),
      stopped.until(),
    ),
    wake() {
      isWanted = true;
      hints.set(hints.current + 1);
    },
    close() {
      stopped.stop();
      hints.close();
    },
  };
}

/** The host of `host:port` as it stands in messages. */
function hostOf(name: string): string {
  return name.slice(0, name.lastIndexOf(':')).replace(/^\[|\]$/g, '');
}
