import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Steps } from '../../core/steps';
import { serveWork, printJson } from './work/serve-work';
import type { WorkScheduler } from './work/work-scheduler';

export interface EventSource {
  /** Called when the first listener connects. */
  start(): void;
  /** Called when the last one disconnects. */
  stop(): void;
  /** Sent to a listener at once, and again when `version` has changed. */
  readonly base: { readonly version: unknown; readonly read: () => unknown };
  /** Sent to every listener at each interval; created once for all of them. */
  readonly next: () => unknown;
}

export interface EventStreamOptions {
  readonly maxListeners: number;
  readonly intervalMs: number;
  /** A listener with this many unread events is dropped. */
  readonly patience: number;
}

export const EVENT_STREAM_OPTIONS: EventStreamOptions = {
  maxListeners: 16,
  intervalMs: 1_000,
  patience: 5,
};

interface Listener {
  readonly response: ServerResponse;
  /** The rules were sent. */
  isBaseSent: boolean;
  version: unknown;
  missed: number;
}

/** A browser whose stream was refused retries after this time. */
const RETRY = 'retry: 5000\n\n';

/** Server-sent events to a bounded number of listeners; a timer runs only while there are some. */
export function createEventStream(
  source: EventSource,
  work: WorkScheduler,
  { maxListeners, intervalMs, patience }: EventStreamOptions = EVENT_STREAM_OPTIONS,
) {
  const listeners = new Set<Listener>();
  let ticking: NodeJS.Timeout | undefined;
  let isTelling = false;
  /** The last one, the same bytes for all listeners. */
  let base: { readonly version: unknown; readonly event: Buffer } | undefined;

  function* tellBase(listener: Listener): Steps<void> {
    const { version } = source.base;
    if (base === undefined || base.version !== version) {
      const event = Buffer.from(yield* toEvent('rules', source.base.read(), 4));
      base = { version, event };
    }
    listener.version = base.version;
    listener.isBaseSent = true;
    tell(listener, base.event);
  }
  function* tellAll(): Steps<void> {
    const event = yield* toEvent('figures', source.next(), 2);
    for (const listener of listeners) {
      yield;
      if (!listener.isBaseSent) continue;
      if (listener.response.writableNeedDrain) {
        listener.missed += 1;
        if (listener.missed >= patience) listener.response.destroy();
        continue;
      }
      listener.missed = 0;
      if (listener.version !== source.base.version) yield* tellBase(listener);
      tell(listener, event);
    }
    isTelling = false;
  }
  const tick = (): void => {
    if (isTelling) return;
    isTelling = true;
    work.insist({
      run: tellAll,
      isWanted: () => true,
      failed() {
        isTelling = false;
      },
    });
  };
  const leave = (listener: Listener): void => {
    if (!listeners.delete(listener) || listeners.size > 0) return;
    clearInterval(ticking);
    base = undefined;
    source.stop();
  };
  function* join(response: ServerResponse): Steps<void> {
    if (listeners.size === 0) {
      source.start();
      ticking = setInterval(tick, intervalMs);
    }
    const listener: Listener = { response, isBaseSent: false, version: undefined, missed: 0 };
    listeners.add(listener);
    response.once('close', () => {
      leave(listener);
    });
    yield* tellBase(listener);
  }
  function* serve(method: string | undefined, response: ServerResponse): Steps<void> {
    response.writeHead(200, HEADERS);
    // A page cannot read the status of an answer other than a stream, so a refusal is an event too.
    if (method === 'HEAD') response.end();
    else if (listeners.size >= maxListeners)
      response.end(yield* toEvent('full', { maxListeners }, 1));
    else yield* join(response);
  }

  return {
    serve({ method }: Pick<IncomingMessage, 'method'>, response: ServerResponse) {
      serveWork(work, response, {
        run: () => serve(method, response),
        failed: () => response.destroy(),
        refused() {
          // A browser retries only after the status of a stream.
          response.writeHead(200, HEADERS).end(RETRY);
        },
      });
    },
    close() {
      for (const { response } of listeners) response.end();
    },
  };
}

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
  'X-Content-Type-Options': 'nosniff',
};

function tell({ response }: Listener, event: Buffer | string): void {
  if (!response.writableEnded && !response.destroyed) response.write(event);
}

/** JSON contains no line breaks, so that an event is two lines. */
function* toEvent(name: string, data: unknown, levels: number): Generator<undefined, string, void> {
  let json = '';
  for (const piece of printJson(data, levels)) {
    json += piece;
    yield;
  }
  return `event: ${name}\ndata: ${json}\n\n`;
}
