import type { Observable } from 'rxjs';
import type { PendingRequest } from '../core/ports';
import type { ListenAddress } from '../platform/listen-address';

/** A port that listens. The app merges `run$`, then calls `listen`, and `close` at the end. */
export interface Listener {
  /**
   * Its background work; emits nothing useful and never fails. Completes after `close`, and once the streams that it was given have
   * completed.
   */
  readonly run$: Observable<void>;
  /** Settles with the bound address; rejects with a message that names it. */
  listen(): Promise<ListenAddress>;
  /** Accepts nothing new, waits for calls in flight, destroys the rest after `withinMs`. Safe to call twice and before `listen`. */
  close(withinMs: number): Promise<void>;
}

/** A listener whose calls need decisions. */
export interface Transport extends Listener {
  /** All requests of one turn in one emission. One subscriber; completes with `close`. */
  readonly requests$: Observable<readonly PendingRequest[]>;
  /** Undefined: it cannot ask single connections to leave. */
  readonly share?: PortShare | undefined;
}

/** This process' share of a port's connections, where others accept on the same port. */
export interface PortShare {
  /** Connections that were not asked to leave. */
  readonly open: number;
  /**
   * Asks the youngest to leave until `most` are left (they end once they have their answers), and leaves new ones to the other
   * processes; one of them has to take them. Undefined: accepts all.
   */
  keep(most: number | undefined): void;
}
