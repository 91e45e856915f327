import { Observable, fromEvent, map, merge, switchMap, timer } from 'rxjs';

/**
 * Runs `task` on subscribe and emits its result; nothing when that is undefined. Unsubscribing aborts its signal, and later results
 * are ignored.
 */
export function fromTask<T>(task: (signal: AbortSignal) => Promise<T | undefined>): Observable<T> {
  return new Observable((subscriber) => {
    const abort = new AbortController();
    task(abort.signal).then(
      (value) => {
        if (value !== undefined) subscriber.next(value);
        subscriber.complete();
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => {
      abort.abort();
    };
  });
}

/** Emits the name of each of these signals; while subscribed they do not end the process by themselves. */
export function fromSignals<Name extends string>(
  source: NodeJS.EventEmitter,
  names: readonly Name[],
): Observable<Name> {
  return merge(...names.map((name) => fromEvent(source, name).pipe(map(() => name))));
}

/** Starts to watch `target`; the returned function stops that. Reports its own failures elsewhere. */
export type OpenWatch<Target, Change> = (
  target: Target,
  changed: (change: Change) => void,
) => () => void;

/** The changes of the newest target. A watch is open from subscription, or a new target, until the next target or teardown. */
export function fromWatch<Target, Change>(
  targets$: Observable<Target>,
  open: OpenWatch<Target, Change>,
): Observable<Change> {
  return targets$.pipe(
    switchMap(
      (target) =>
        new Observable<Change>((subscriber) =>
          open(target, (change) => {
            subscriber.next(change);
          }),
        ),
    ),
  );
}

/** Events of a bidirectional stream, for its opener. */
export interface DuplexEvents<In> {
  readonly message: (message: In) => void;
  /** The stream has ended for any reason, also when the other side closed it properly. */
  readonly lost: (reason: unknown) => void;
}

/** Our end of an open stream. */
export interface DuplexEnd<Out> {
  send(message: Out): void;
  close(): void;
}

export type OpenDuplex<In, Out> = (events: DuplexEvents<In>) => DuplexEnd<Out>;

export interface Received<In, Out> {
  readonly message: In;
  /** Sends on the stream that delivered the message; has no effect once that has ended. */
  reply(message: Out): void;
}

/**
 * Opens a bidirectional stream on subscribe and sends the initial request first. Emits messages, errors when the stream is lost,
 * never completes. Unsubscribing closes it.
 */
export function fromDuplex<In, Out>(
  open: OpenDuplex<In, Out>,
  initialRequest: () => Out,
): Observable<Received<In, Out>> {
  return new Observable((subscriber) => {
    const end = open({
      message: (message) => {
        subscriber.next({ message, reply });
      },
      lost: (reason) => {
        subscriber.error(reason);
      },
    });
    const reply = (message: Out) => {
      if (!subscriber.closed) end.send(message);
    };
    reply(initialRequest());
    return () => {
      end.close();
    };
  });
}

/** Below this many milliseconds a timer is too coarse; turns of the event loop are timed with the clock. */
const TIMER_RESOLUTION_MS = 1;

/** Emits once after pending I/O events have been handled. */
const immediate$ = new Observable<void>((subscriber) => {
  const handle = setImmediate(() => {
    subscriber.next();
    subscriber.complete();
  });
  return () => {
    clearImmediate(handle);
  };
});

/**
 * A window of the given length in milliseconds: 0 ends with this turn of the event loop. A window shorter
 * than a timer can measure ends with the first turn after its time. `now` is a monotonic clock in ms.
 */
export function turnWindow(windowMs: number, now: () => number): () => Observable<unknown> {
  if (windowMs <= 0) return () => immediate$;
  if (windowMs >= TIMER_RESOLUTION_MS) return () => timer(windowMs);
  return () => spinUntil(windowMs, now);
}

function spinUntil(windowMs: number, now: () => number): Observable<void> {
  return new Observable((subscriber) => {
    const end = now() + windowMs;
    const look = () => {
      if (now() < end) {
        handle = setImmediate(look);
        return;
      }
      subscriber.next();
      subscriber.complete();
    };
    let handle = setImmediate(look);
    return () => {
      clearImmediate(handle);
    };
  });
}
