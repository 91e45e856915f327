import type { Observable } from 'rxjs';

/** The part of rxjs that the client uses. */
export interface Rxjs {
  readonly Observable: typeof Observable;
}

/**
 * The optional dependency: the client works without it until a stream is requested. This is the loader for CommonJS;
 * `load-rxjs.mts` is the one for ES modules.
 */
export function loadRxjs(): Rxjs {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- optional, so not at the top
  return require('rxjs') as Rxjs;
}
