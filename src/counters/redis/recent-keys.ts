import { copyOf } from '../../platform/copy-of';
import { bytesOfText, toKeptKey } from '../kept-key';

export interface RecentKeysOptions {
  readonly maxKeys: number;
  readonly maxBytes: number;
}

/** What V8 takes for a key besides its characters: a text and a place in a set. */
const KEY_BYTES = 60;

/** A bounded memory of keys: two halves, of which the older one is forgotten when the newer is full. */
export function createRecentKeys({ maxKeys, maxBytes }: RecentKeysOptions) {
  let newer = new Set<string>();
  let older = new Set<string>();
  let bytes = 0;
  return {
    has(key: string) {
      const kept = toKeptKey(key);
      return newer.has(kept) || older.has(kept);
    },
    add(key: string) {
      const kept = toKeptKey(key);
      if (newer.has(kept)) return;
      newer.add(copyOf(kept));
      bytes += KEY_BYTES + bytesOfText(kept);
      if (newer.size < Math.ceil(maxKeys / 2) && bytes < maxBytes / 2) return;
      older = newer;
      newer = new Set();
      bytes = 0;
    },
  };
}
