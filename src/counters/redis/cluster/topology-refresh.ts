import { merge, timer } from 'rxjs';
import { createSnapshot, createStopSignal, exhaustLatest, fromTask } from '../../../../streams';
import { toReason } from '../../../platform/errors';
import { type NodeSet } from '../node-set';
import { type HostAndPort, type RedisCountersDeps } from '../options';
import { type RedisConnection } from '../connection';
import { createPlacement } from '../placement';
import { isSentinel } from '../probe-server';
import { isAlone, isUnknownCommand, WrongKindError, type TypeSetting } from '../wrong-kind';
import { type ClusterNodes } from './cluster-nodes';
import { readSlotMap, type SlotMap } from './slots';

export interface TopologyRefreshDeps extends Pick<RedisCountersDeps, 'monotonicMs'> {
  readonly onEvent: RedisCountersDeps['onEvent'] | undefined;
  readonly nodes: NodeSet;
  readonly clusterNodes: ClusterNodes;
  readonly onPlaced: () => void;
}

export interface TopologyRefreshOptions {
  readonly store: string;
  readonly seeds: readonly HostAndPort[];
  readonly answerMs: number;
  readonly typeSetting?: TypeSetting | undefined;
}

/** Interval for checking whether the slot map must be read again, for example because a slot owner has no connection. */
const CHECK_EVERY_MS = 500;
/** Interval for reading it without such a reason. */
const REFRESH_EVERY_MS = 5_000;
/** Hints do not cause reads more often than this. */
const MIN_INTERVAL_MS = 50;
/** Longest wait for the answer of one node. */
const ANSWER_MS = 500;

/** Keeps the slot map of a cluster up to date. */
export function createTopologyRefresh(deps: TopologyRefreshDeps, options: TopologyRefreshOptions) {
  const { monotonicMs, onEvent, nodes, clusterNodes, onPlaced } = deps;
  const { store, seeds, typeSetting } = options;
  const answerMs = Math.min(options.answerMs, ANSWER_MS);
  const hints = createSnapshot(0);
  const stopped = createStopSignal();
  const placement = createPlacement({ onEvent }, store, typeSetting);
  let reason = 'no node has returned its slot map yet';
  let isWanted = true;
  let askedMs = -Infinity;
  let rotation = 0;
  let isUnknown = false;

  /** The first trusted answer of the connected nodes; the first node changes each time. */
  const ask = async (): Promise<SlotMap | undefined> => {
    const faults: unknown[] = [];
    const connected = nodes.nodes.filter(({ anyConnection }) => anyConnection !== undefined);
    rotation += 1;
    askedMs = connected.length === 0 ? -Infinity : monotonicMs();
    let doubtful: SlotMap | undefined;
    for (let at = 0; at < connected.length; at += 1) {
      const { anyConnection, store: name } = connected[(rotation + at) % connected.length] ?? {};
      if (anyConnection === undefined || name === undefined) continue;
      try {
        const map = await readSlotMap(anyConnection, hostOf(name), answerMs);
        if (map.isTrusted) return map;
        doubtful ??= map;
      } catch (error) {
        const fault = await toFault(error, anyConnection, typeSetting);
        reason = `${name}: ${toReason(fault)}`;
        faults.push(fault);
      }
    }
    if (doubtful === undefined) placement.onFailed(faults);
    return doubtful;
  };

  const refresh = async (signal: AbortSignal): Promise<undefined> => {
    clusterNodes.dropOthers();
    if (!isDue()) return;
    isWanted = false;
    const map = await ask();
    if (signal.aborted) return;
    if (map === undefined) {
      // No known node has answered: those of the settings may lead to others.
      for (const { host, port } of seeds) nodes.node({ kind: 'tcp', host, port });
      isWanted = true;
      reportUnknownSlots();
      return;
    }
    placement.onFound();
    if (isUnknown) onEvent?.({ kind: 'slots-known', store });
    isUnknown = false;
    const owners = clusterNodes.place(map.ranges);
    if (owners !== undefined) onEvent?.({ kind: 'slots-changed', store, nodes: owners });
    onPlaced();
  };
  const isDue = (): boolean => {
    const sinceMs = monotonicMs() - askedMs;
    if (sinceMs < MIN_INTERVAL_MS) return false;
    return isWanted || sinceMs >= REFRESH_EVERY_MS || !clusterNodes.isComplete();
  };
  const reportUnknownSlots = (): void => {
    const isConnecting = nodes.nodes.every(({ anyConnection }) => anyConnection === undefined);
    if (!clusterNodes.isKnown && isConnecting) return;
    isUnknown = true;
    onEvent?.({ kind: 'slots-unknown', store, reason });
  };

  return {
    /** Why nothing is known. */
    get reason() {
      return reason;
    },
    run$: merge(timer(0, CHECK_EVERY_MS), hints.changes$).pipe(
      exhaustLatest(() => fromTask<never>(refresh)),
      stopped.until(),
    ),
    /** A hint that slots have moved. */
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

/** Names the setting that mends a single server or a sentinel. */
async function toFault(
  error: unknown,
  { client }: RedisConnection,
  typeSetting: TypeSetting | undefined,
): Promise<unknown> {
  const answer = toReason(error);
  if (isAlone(answer)) return new WrongKindError('alone', typeSetting, answer);
  const isOther = isUnknownCommand(answer) && (await isSentinel(client));
  return isOther ? new WrongKindError('sentinel', typeSetting, answer) : error;
}

/** The host of `host:port` in messages. */
function hostOf(name: string): string {
  return name.slice(0, name.lastIndexOf(':')).replace(/^\[|\]$/g, '');
}
