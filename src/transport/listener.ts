import type { Observable } from 'rxjs';
import type { PendingRequest } from '../core/ports';
import type { ListenAddress } from '../platform/listen-address';

/** Something that listens. The app merges `run$`, then calls `listen`, and `close` at the end. */
export interface Listener {
  /**
   * All that it does by itself; emits nothing of meaning and never fails. Completes after `close`, and
   * once the streams that it was given have completed.
   */
  readonly run$: Observable<void>;
  /** Settles with the address that is bound; rejects with a message that names it. */
  listen(): Promise<ListenAddress>;
  /**
   * Takes nothing new, waits for what is in flight, cuts what is left after `withinMs`.
   * Safe to call twice and before `listen`.
   */
  close(withinMs: number): Promise<void>;
}

/** A listener that asks for decisions. */
export interface Transport extends Listener {
  /** All requests of one turn in one emission. One subscriber; completes with `close`. */
  readonly requests$: Observable<readonly PendingRequest[]>;
  /** Undefined: it cannot ask single connections to leave. */
  readonly share?: PortShare | undefined;
}

/** The part of a port's connections that this process holds, where others accept on the same port. */
export interface PortShare {
  /** Connections that were not asked to leave. */
  readonly open: number;
  /**
   * Asks the youngest to leave until so many are left (they end once they have their answers), and leaves new ones to the
   * other processes; one of them has to take them. Undefined: takes what comes.
   */
  keep(most: number | undefined): void;
}
