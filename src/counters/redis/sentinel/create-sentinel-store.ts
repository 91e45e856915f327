import { merge, timer, type Observable } from 'rxjs';
import { createSnapshot, createStopSignal, exhaustLatest, fromTask } from '../../../../streams';
import { toReason } from '../../../platform/errors';
import { refuseIfNothing } from '../../../core/batches/reply-draft';
import type { StoreAddress } from '../../../platform/env-table/addresses';
import { createNodeSet } from '../node-set';
import { unread } from '../../count';
import { type RedisNode, peekAt } from '../node';
import {
  toAddressText,
  type RedisCounters,
  type RedisCountersOptions,
  type HostAndPort,
  type RedisCountersDeps,
  type ServerOptions,
} from '../options';
import { createPlacement } from '../placement';
import type { PoolDeps } from '../pool';
import { toUnavailableError } from '../store-errors';
import { createMasterElection, createSentinel, type Sentinel } from './ask-sentinel';
import { once } from '../../once';
import { createChannelListener } from '../channel-listener';

interface SwitchListenerDeps extends Pick<RedisCountersDeps, 'monotonicMs' | 'random' | 'onEvent'> {
  /** A sentinel may name another master now. */
  readonly onSwitch: () => void;
}

interface SwitchListenerOptions extends Pick<ServerOptions, 'auth' | 'tls' | 'timeoutMs'> {
  readonly masterName: string;
  readonly sentinels: readonly HostAndPort[];
}

/** The second comes first: from then on the sentinel that leads the failover names the new master. */
const CHANNELS = ['+switch-master', '+failover-state-reconf-slaves'];

/** Listens to the sentinels' announcements of their masters. */
export function createSwitchListener(
  { onSwitch, onEvent, ...deps }: SwitchListenerDeps,
  { masterName, sentinels, ...options }: SwitchListenerOptions,
) {
  const listeners = sentinels.map((place) => {
    const address = { kind: 'tcp', ...place } as const;
    const name = toAddressText(address);
    return createChannelListener(
      {
        ...deps,
        address: () => address,
        onMessage(message) {
          if (message.split(' ').includes(masterName)) onSwitch();
        },
        onListening(isFirst) {
          if (!isFirst) onSwitch();
        },
        onRefused: once((error: unknown) =>
          onEvent?.({ kind: 'switch-unheard', store: name, reason: toReason(error) }),
        ),
      },
      { ...options, channels: CHANNELS, name },
    );
  });
  return {
    run$: merge(...listeners.map(({ run$ }) => run$)),
    close() {
      for (const listener of listeners) listener.close();
    },
  };
}

/** Interval of polling each sentinel; a failover whose announcement is missed is noticed within this time. */
const ASK_EVERY_MS = 500;

/** Longest wait for a sentinel's answer, connecting included. */
const ANSWER_MS = 1_000;

/** Counters on the master that sentinels name, and on the next one as soon as they name it. */
export function createSentinelStore(
  deps: PoolDeps,
  options: RedisCountersOptions,
  address: StoreAddress & { readonly kind: 'sentinel' },
): RedisCounters {
  const { monotonicMs, onEvent } = deps;
  const { masterName } = address;
  const store = toAddressText(address);
  const asks = createSnapshot(0);
  const connected = createSnapshot(false);
  const stopped = createStopSignal();
  const election = createMasterElection();
  const failures = new Map<string, unknown>();
  const placement = createPlacement({ onEvent }, store, options.typeSetting);
  let reason = 'no sentinel has named the master yet';
  let master: RedisNode | undefined;

  const nodes = createNodeSet(
    {
      ...deps,
      store,
      reason: () => (master === undefined ? reason : `its master ${master.store} is unreachable`),
      onChange: () => {
        publish();
        askAll();
      },
    },
    { ...options, mustBeMaster: true },
  );
  const sentinels = address.sentinels.map((place) =>
    createSentinel(place, {
      masterName,
      auth: options.sentinelAuth,
      tls: options.sentinelTls,
      answerMs: Math.min(options.timeoutMs, ANSWER_MS),
      typeSetting: options.typeSetting,
    }),
  );

  const switches = createSwitchListener(
    {
      ...deps,
      onSwitch: () => {
        askAll();
      },
    },
    {
      masterName,
      sentinels: address.sentinels,
      auth: options.sentinelAuth,
      tls: options.sentinelTls,
      timeoutMs: options.timeoutMs,
    },
  );

  const askAll = (): void => {
    asks.set(asks.current + 1);
  };
  const publish = (): void => {
    if (nodes.isConnected !== connected.current) connected.set(nodes.isConnected);
  };
  const noteAnswer = ({ name }: Sentinel): void => {
    placement.onFound();
    if (failures.delete(name)) onEvent?.({ kind: 'sentinel-works', store: name });
  };
  const ask = async (sentinel: Sentinel, signal: AbortSignal): Promise<undefined> => {
    try {
      const view = await sentinel.query(signal);
      if (signal.aborted) return;
      noteAnswer(sentinel);
      const node = nodes.node(election.vote(sentinel.name, view, monotonicMs()).address);
      if (node === master) return;
      master = node;
      onEvent?.({ kind: 'master-changed', store, master: node.store });
      nodes.keepOnly(new Set([node]));
      publish();
    } catch (error) {
      if (signal.aborted) return;
      if (master === undefined) reason = `sentinel ${sentinel.name}: ${toReason(error)}`;
      failures.set(sentinel.name, error);
      if (sentinels.every(({ name }) => failures.has(name)))
        placement.onFailed([...failures.values()]);
      onEvent?.({ kind: 'sentinel-failed', store: sentinel.name, reason: toReason(error) });
    }
  };
  const asks$ = sentinels.map((sentinel): Observable<never> =>
    merge(timer(0, ASK_EVERY_MS), asks.changes$).pipe(
      exhaustLatest(() => fromTask<never>((signal) => ask(sentinel, signal))),
      stopped.until(),
    ),
  );

  return {
    connected$: connected.changes$,
    run$: merge(nodes.run$, switches.run$, ...asks$),
    async add(batch) {
      if (master === undefined) throw toUnavailableError(store, reason);
      return refuseIfNothing(await master.add(batch));
    },
    async read(keys) {
      if (master === undefined) throw toUnavailableError(store, reason);
      return (await master.read(keys)).counts;
    },
    async readFields(key, fields) {
      if (master === undefined) throw toUnavailableError(store, reason);
      return master.readFields(key, fields);
    },
    peek(keys) {
      if (master !== undefined) return peekAt(master, keys);
      const away = unread(`Redis at ${store}`, toUnavailableError(store, reason));
      return Promise.resolve(new Map(keys.map((key) => [key, away])));
    },
    async send(_key, commands) {
      if (master === undefined) throw toUnavailableError(store, reason);
      return master.send(commands);
    },
    lacksScripts: () => master?.lacksScripts === true,
    anyServer: () => master?.address,
    async close() {
      reason = 'the service is stopping';
      stopped.stop();
      switches.close();
      asks.close();
      for (const sentinel of sentinels) sentinel.close();
      await nodes.close();
      connected.close();
    },
  };
}
