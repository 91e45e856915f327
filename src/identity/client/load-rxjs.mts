import type * as Rxjs from 'rxjs';

/** A module without it is a client without streams, in browsers too. */
const rxjs: typeof Rxjs | undefined = await import('rxjs').catch(() => undefined);

export function loadRxjs(): typeof Rxjs {
  if (rxjs === undefined)
    throw new Error('getUserInfo$ needs the package rxjs, which is not installed');
  return rxjs;
}
