import { copyOf } from '../../platform/copy-of';
import { bytesOfText, toKeptKey } from '../kept-key';

export interface RecentKeysOptions {
  readonly maxKeys: number;
  readonly maxBytes: number;
}

/** Memory that V8 needs per key besides its characters: a string and a set slot. */
const KEY_BYTES = 60;

/** A bounded set of keys in two halves; the older half is dropped when the newer one is full. */
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
