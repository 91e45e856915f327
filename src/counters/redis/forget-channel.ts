import { type Observable } from 'rxjs';
import { toReason } from '../../platform/errors';
import { toKeptKey } from '../kept-key';
import { createChannelListener } from './channel-listener';
import { type RedisCounters, type RedisCountersDeps, type ServerOptions } from './options';

/** Tells the instances that share a store which counters their local caches must forget; a message comes at most once. */
export interface ForgetChannel {
  /** Never fails: where a message does not arrive, what is cached lasts until the window of the counter ends. */
  readonly tell: (keys: readonly string[]) => void;
  /** Keeps one connection that listens while it is subscribed to; subscribe once. Completes after `close`. */
  readonly run$: Observable<never>;
  close(): void;
}

export interface ForgetChannelDeps extends Pick<
  RedisCountersDeps,
  'monotonicMs' | 'random' | 'onEvent'
> {
  readonly store: Pick<RedisCounters, 'ask' | 'anyServer'>;
  /** The keys of counters to forget, long ones by their digests; undefined: messages may have been missed. */
  readonly onForget: (keys: readonly string[] | undefined) => void;
}

export interface ForgetChannelOptions extends Pick<ServerOptions, 'auth' | 'tls' | 'timeoutMs'> {
  readonly channel: string;
  /** The store's name in messages. */
  readonly name: string;
}

/** Keys of one message; more are not looked for one by one: all counters are forgotten. */
const MAX_KEYS = 10_000;

export function createForgetChannel(
  { store, onForget, onEvent, ...deps }: ForgetChannelDeps,
  options: ForgetChannelOptions,
): ForgetChannel {
  const { channel, name } = options;
  let hasWarned = false;

  const warnOnce = (error: unknown): void => {
    if (hasWarned) return;
    hasWarned = true;
    onEvent?.({ kind: 'forget-refused', store: name, reason: toReason(error) });
  };
  const listener = createChannelListener(
    {
      ...deps,
      address: store.anyServer,
      onMessage(message) {
        const keys = readKeys(message);
        if (keys !== undefined) onForget(keys.length > MAX_KEYS ? undefined : keys);
      },
      onAgain() {
        onForget(undefined);
      },
      onRefused: warnOnce,
    },
    { ...options, channels: [channel] },
  );
  return {
    run$: listener.run$,
    tell(keys) {
      const message = JSON.stringify(keys.map(toKeptKey));
      store.ask(channel, [['publish', channel, message]]).catch(warnOnce);
    },
    close: listener.close,
  };
}

/** Anybody may write to a channel: anything but a list of texts is ignored. */
function readKeys(message: string): readonly string[] | undefined {
  try {
    const keys: unknown = JSON.parse(message);
    return Array.isArray(keys) && keys.every((key) => typeof key === 'string') ? keys : undefined;
  } catch {
    return undefined;
  }
}
