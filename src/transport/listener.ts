import type { Observable } from 'rxjs';
import type { Question } from '../core/ports';

/** Where to listen: a TCP address (port 0: any free one) or the path of a Unix socket. */
export type ListenAddress =
  { readonly host: string; readonly port: number } | { readonly path: string };

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
  /** All questions of one turn in one emission. One subscriber; completes with `close`. */
  readonly questions$: Observable<readonly Question[]>;
}

export function addressText(address: ListenAddress): string {
  if ('path' in address) return `unix:${address.path}`;
  const host = address.host.includes(':') ? `[${address.host}]` : address.host;
  return `${host}:${String(address.port)}`;
}

/** What `listen` rejects with. */
export function cannotListen(address: ListenAddress, cause: Error): Error {
  return new Error(`cannot listen on ${addressText(address)}: ${cause.message}`, { cause });
}
