import { toReason } from '../../platform/errors';
import { toKeptKey } from '../kept-key';
import { once } from '../once';
import { createChannelListener } from './channel-listener';
import {
  type OnForget,
  type RedisCounters,
  type RedisCountersDeps,
  type ServerOptions,
} from './options';

export interface ForgetChannelDeps extends Pick<
  RedisCountersDeps,
  'monotonicMs' | 'random' | 'onEvent'
> {
  readonly store: Pick<RedisCounters, 'send' | 'anyServer'>;
  readonly onForget: OnForget;
}

export interface ForgetChannelOptions extends Pick<ServerOptions, 'auth' | 'tls' | 'timeoutMs'> {
  readonly channel: string;
  /** The store's name in messages. */
  readonly name: string;
}

/** No counter has this key. */
const LEASES_END = '';

/** Keys per message; for more than that all counters are dropped. */
const MAX_KEYS = 10_000;

/**
 * Publishes to the instances that share a store which counters their local caches must drop; a message arrives at most once. It is
 * a list of their keys; an empty string before them means that their leases end too, and means nothing to versions without leases.
 */
export function createForgetChannel(
  { store, onForget, onEvent, ...deps }: ForgetChannelDeps,
  options: ForgetChannelOptions,
) {
  const { channel, name } = options;
  const warnOnce = once((error: unknown) =>
    onEvent?.({ kind: 'forget-refused', store: name, reason: toReason(error) }),
  );
  const listener = createChannelListener(
    {
      ...deps,
      address: store.anyServer,
      onMessage(message) {
        const texts = readTexts(message);
        if (texts === undefined) return;
        const endsLeases = texts[0] === LEASES_END;
        const keys = endsLeases ? texts.slice(1) : texts;
        onForget(keys.length > MAX_KEYS ? undefined : keys, endsLeases);
      },
      onListening() {
        onForget(undefined, false);
      },
      onRefused: warnOnce,
    },
    { ...options, channels: [channel] },
  );
  return {
    /** Keeps one listening connection while it is subscribed to; subscribe once. Completes after `close`. */
    run$: listener.run$,
    /** Never fails: where a message does not arrive, cached counters stay until their window ends. */
    tell: (keys: readonly string[], endsLeases = false) => {
      const kept = keys.map(toKeptKey);
      const message = JSON.stringify(endsLeases ? [LEASES_END, ...kept] : kept);
      store.send(channel, [['publish', channel, message]]).catch(warnOnce);
    },
    close: listener.close,
  };
}

export type ForgetChannel = ReturnType<typeof createForgetChannel>;

/** Anybody may write to a channel: anything but a list of strings is ignored. */
function readTexts(message: string): readonly string[] | undefined {
  try {
    const texts: unknown = JSON.parse(message);
    return Array.isArray(texts) && texts.every((one) => typeof one === 'string')
      ? texts
      : undefined;
  } catch {
    return undefined;
  }
}
