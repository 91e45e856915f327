import type * as Rxjs from 'rxjs';

/**
 * The optional companion: the client works without it as long as nobody asks for a stream. This is the one
 * for CommonJS; `load-rxjs.mts` is the one for ES modules.
 */
export function loadRxjs(): typeof Rxjs {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- optional, so not at the top
  return require('rxjs') as typeof Rxjs;
}
