import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Lets the collector of short-lived objects run now. */
export type CollectYoung = () => void;

/**
 * A reload makes megabytes of objects that stay. Left to itself, V8 copies them all in one pause of
 * 10 to 20 ms once its nursery is full; asked after each slice it takes a quarter of a millisecond.
 * Does nothing on a V8 that does not offer it.
 */
export function createCollectYoung(): CollectYoung {
  try {
    setFlagsFromString('--expose-gc');
    const collect: unknown = runInNewContext('gc');
    setFlagsFromString('--no-expose-gc');
    if (!isCollector(collect)) return () => undefined;
    return () => {
      collect({ type: 'minor' });
    };
  } catch {
    return () => undefined;
  }
}

function isCollector(collect: unknown): collect is (options: { type: 'minor' }) => void {
  return typeof collect === 'function';
}
