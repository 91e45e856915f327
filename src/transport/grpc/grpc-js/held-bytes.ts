import type { Socket } from 'node:net';
import { ServerInterceptingCall, status, type ServerInterceptor } from '@grpc/grpc-js';
import type { ByteBudget, ByteHolder } from '../../../platform/byte-budget';

/**
 * Memory of the messages in the library's calls: requests that wait for a decision, and answers until they are sent. The library
 * does not expose incomplete messages.
 */
export function createHeldBytes(budget: ByteBudget) {
  const peers = new Map<string, Peer>();
  /** Refuses new calls before their message is read while the budget is spent. */
  const refuseWhenSpent: ServerInterceptor = (_method, call) =>
    new ServerInterceptingCall(call, {
      start(next) {
        if (budget.isSpent) call.sendStatus(SPENT);
        else next();
      },
    });
  return {
    refuseWhenSpent,
    /** Called with each socket before the library gets it. */
    accept(socket: Socket) {
      const name = peerName(socket);
      const known = peers.get(name);
      const peer = known?.isEnded === false ? known : new Peer(budget);
      peers.set(name, peer);
      peer.sockets.add(socket);
      socket.once('close', () => {
        peer.sockets.delete(socket);
        if (peer.sockets.size === 0 && peers.get(name) === peer) peers.delete(name);
      });
    },
    /** The account of a new call of this peer (`call.getPeer()`). */
    open(name: string) {
      const peer = peers.get(name);
      let held = 0;
      return {
        add(bytes: number) {
          held += bytes;
          peer?.add(bytes);
        },
        /** The call has ended. */
        release() {
          peer?.add(-held);
          held = 0;
        },
      };
    },
  };
}

export type HeldBytes = ReturnType<typeof createHeldBytes>;

const SPENT = {
  code: status.RESOURCE_EXHAUSTED,
  details: 'the service holds too many bytes for its clients',
};

/** A connection; on a Unix socket all of them together, since calls there do not name theirs. */
class Peer implements ByteHolder {
  heldBytes = 0;
  isEnded = false;
  readonly sockets = new Set<Socket>();
  readonly #budget: ByteBudget;
  #callBytes = 0;

  constructor(budget: ByteBudget) {
    this.#budget = budget;
  }

  add(bytes: number): void {
    this.#callBytes += bytes;
    if (!this.isEnded) this.#budget.report(this, this.#callBytes);
  }

  end(): void {
    this.isEnded = true;
    for (const socket of this.sockets) socket.destroy();
  }
}

/** The name that `getPeer` of a call returns. */
function peerName({ remoteAddress, remotePort }: Socket): string {
  if (remoteAddress === undefined) return 'unknown';
  return remotePort === undefined ? remoteAddress : `${remoteAddress}:${String(remotePort)}`;
}
