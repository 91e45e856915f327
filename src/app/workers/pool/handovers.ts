import type { Worker } from 'node:cluster';

/** A connection that the primary has accepted, as Node passes it around. */
interface Handle {
  close(): void;
}

/** Node's own message that hands a connection to a worker; the worker answers with `ack`. */
interface Handover {
  readonly act?: unknown;
  readonly seq?: unknown;
  readonly ack?: unknown;
}

type Send = (message: Handover, handle?: Handle, ...rest: readonly unknown[]) => boolean;

/**
 * Tracks connections on their way to a worker. Node's cluster closes its own copy of one when the worker has answered, and forgets
 * one whose worker died before that: its client would be connected to no process, and wait for ever. At most two are in transit at
 * a time, one for each port. Call the result once the worker has ended, with whether another listens on the same ports: it gets
 * them (nothing was read from them); otherwise they are closed, so that their clients reconnect.
 */
export function followHandovers({ process }: Worker): (isAnotherListening: boolean) => void {
  const underWay = new Map<unknown, Handle>();
  // Handovers have no event and no public type: only Node's own messages contain the handle.
  const channel = process as unknown as { send: Send };
  const send = channel.send.bind(process);
  channel.send = (message, handle, ...rest) => {
    if (message.act === 'newconn' && handle !== undefined) underWay.set(message.seq, handle);
    return send(message, handle, ...rest);
  };
  process.on('internalMessage', ({ ack }: Handover) => {
    underWay.delete(ack);
  });
  return (isAnotherListening) => {
    for (const [seq, handle] of underWay) {
      // The message that the worker would have sent after closing its port: Node then offers the connection to the others.
      if (isAnotherListening)
        process.emit(
          'internalMessage',
          { cmd: 'NODE_CLUSTER', ack: seq, accepted: false },
          undefined,
        );
      else handle.close();
    }
    underWay.clear();
  };
}
