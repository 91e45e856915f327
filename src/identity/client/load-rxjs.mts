import type { Rxjs } from './load-rxjs.js';

/** Without the package the client works without streams, in browsers too. */
const rxjs: Rxjs | undefined = await import('rxjs').catch(() => undefined);

export function loadRxjs(): Rxjs {
  if (rxjs === undefined)
    throw new Error('getUserInfo$ needs the package rxjs, which is not installed');
  return rxjs;
}
