import { Observable } from 'rxjs';

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
