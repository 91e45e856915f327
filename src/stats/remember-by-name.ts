import { copyOf } from '../platform/copy-of';

/** Approximate memory of one cache. */
const MAX_BYTES = 33_554_432;
/** Memory of an entry, besides its strings. */
const ENTRY_BYTES = 200;
/** Memory of the name and the strings derived from it, per character of the name. */
const BYTES_PER_CHARACTER = 4;

/**
 * Caches a function by name: every flush and every scrape use the same names again. Starts anew when it is full. Names are copied,
 * so that parts of them keep nothing else alive.
 */
export function rememberByName<T>(
  find: (name: string) => T,
  maxBytes = MAX_BYTES,
): (name: string) => T {
  const found = new Map<string, T>();
  let bytes = 0;
  return (name) => {
    const known = found.get(name);
    if (known !== undefined || found.has(name)) return known as T;
    bytes += ENTRY_BYTES + BYTES_PER_CHARACTER * name.length;
    if (bytes > maxBytes) {
      found.clear();
      bytes = ENTRY_BYTES + BYTES_PER_CHARACTER * name.length;
    }
    const own = copyOf(name);
    const result = find(own);
    found.set(own, result);
    return result;
  };
}
