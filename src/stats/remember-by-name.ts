import { copyOf } from '../platform/copy-of';

/** Bytes that one memory takes, roughly. */
const MAX_BYTES = 33_554_432;
/** Of an entry, besides its texts. */
const ENTRY_BYTES = 200;
/** Of the name and the texts that are made of it, for each character of the name. */
const BYTES_PER_CHARACTER = 4;

/**
 * The same function, asked once for each name: every flush and every scrape come with the same names again.
 * Starts anew where its memory is full. Names are copied, so that parts of them hold nothing else.
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
