import { Observable } from 'rxjs';

/** What the opener of a stream in two directions learns about it. */
export interface DuplexEvents<In> {
  readonly message: (message: In) => void;
  /** The stream is over, for whatever reason: also when the other side ended it in order. */
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
  /** Sends on the stream that the message came on; does nothing once that is over. */
  reply(message: Out): void;
}

/**
 * Opens a stream in two directions on subscribe and sends the initial request first. Emits what comes, errors when
 * the stream is lost, never completes. Unsubscribing closes it.
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
