import { merge } from 'rxjs';
import { toReason } from '../../../platform/errors';
import { once } from '../../once';
import { createChannelListener } from '../channel-listener';
import {
  toAddressText,
  type HostAndPort,
  type RedisCountersDeps,
  type ServerOptions,
} from '../options';

export interface SwitchListenerDeps extends Pick<
  RedisCountersDeps,
  'monotonicMs' | 'random' | 'onEvent'
> {
  /** A sentinel may name another master now. */
  readonly onSwitch: () => void;
}

export interface SwitchListenerOptions extends Pick<ServerOptions, 'auth' | 'tls' | 'timeoutMs'> {
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
