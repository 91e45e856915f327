import type { IncomingMessage, ServerResponse } from 'node:http';

/** Creates the events of a stream. */
export interface EventSource {
  /** Called when the first listener has come. */
  start(): void;
  /** Called when the last one has left. */
  stop(): void;
  /** Sent to a listener at once, and again when `version` has changed. */
  readonly base: { readonly version: unknown; readonly read: () => unknown };
  /** Sent to every listener at each interval; created once for all of them. */
  readonly next: () => unknown;
}

export interface EventStreamOptions {
  readonly maxListeners: number;
  readonly intervalMs: number;
  /** A listener that has not read what it got for so many events is dropped. */
  readonly patience: number;
}

export const EVENT_STREAM_OPTIONS: EventStreamOptions = {
  maxListeners: 16,
  intervalMs: 1_000,
  patience: 5,
};

/** Server-sent events to a bounded number of listeners; a timer runs only while there are some. */
export interface EventStream {
  serve(request: Pick<IncomingMessage, 'method'>, response: ServerResponse): void;
  /** Ends every stream. */
  close(): void;
}

interface Listener {
  readonly response: ServerResponse;
  version: unknown;
  missed: number;
}

export function createEventStream(
  source: EventSource,
  { maxListeners, intervalMs, patience }: EventStreamOptions = EVENT_STREAM_OPTIONS,
): EventStream {
  const listeners = new Set<Listener>();
  let ticking: NodeJS.Timeout | undefined;

  const tellBase = (listener: Listener, version: unknown): void => {
    listener.version = version;
    listener.response.write(toEvent('rules', source.base.read()));
  };
  const tick = (): void => {
    const { version } = source.base;
    const event = toEvent('figures', source.next());
    for (const listener of listeners) {
      if (listener.response.writableNeedDrain) {
        listener.missed += 1;
        if (listener.missed >= patience) listener.response.destroy();
        continue;
      }
      listener.missed = 0;
      if (listener.version !== version) tellBase(listener, version);
      listener.response.write(event);
    }
  };
  const leave = (listener: Listener): void => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    clearInterval(ticking);
    source.stop();
  };
  const join = (response: ServerResponse): void => {
    if (listeners.size === 0) {
      source.start();
      ticking = setInterval(tick, intervalMs);
    }
    const listener: Listener = { response, version: undefined, missed: 0 };
    listeners.add(listener);
    response.once('close', () => {
      leave(listener);
    });
    tellBase(listener, source.base.version);
  };

  return {
    serve({ method }, response) {
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        'Cache-Control': 'no-store',
        'X-Accel-Buffering': 'no',
        'X-Content-Type-Options': 'nosniff',
      });
      // A page cannot read the status of an answer other than a stream, so a refusal is an event too.
      if (method === 'HEAD') response.end();
      else if (listeners.size >= maxListeners) response.end(toEvent('full', { maxListeners }));
      else join(response);
    },
    close() {
      for (const { response } of listeners) response.end();
    },
  };
}

/** JSON has no line ends of its own, so that an event is two lines. */
function toEvent(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
