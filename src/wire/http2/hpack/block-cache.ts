import { LARGEST_KEPT, type DecodedHeaders } from './header-list';
import { createOctetKey, isKey, type OctetKey } from '../../octet-key';
import { sampledHash } from './sampled-hash';

interface RememberedBlock {
  readonly key: OctetKey;
  /** The dynamic table's version at which these octets meant this list. */
  readonly version: object;
  readonly list: DecodedHeaders;
}

/**
 * Header lists by the octets of their block. Only for blocks that do not change the dynamic table, and valid only
 * while nothing else changes it: then equal octets mean equal lists. Bounded: the slots, and the last one, times the two sizes.
 */
export interface BlockCache {
  readonly slots: (RememberedBlock | undefined)[];
  /** Per slot: the hash of the last block that found the slot taken. */
  readonly rivals: Int32Array;
  /** The one that was found last. */
  last: RememberedBlock | undefined;
}

const SLOTS = 16;
const LONGEST_BLOCK = 512;

export function createBlockCache(): BlockCache {
  return {
    slots: new Array<RememberedBlock | undefined>(SLOTS).fill(undefined),
    rivals: new Int32Array(SLOTS).fill(-1),
    last: undefined,
  };
}

/** The list of an equal block of before, or undefined. */
export function recallBlock(
  cache: BlockCache,
  version: object,
  bytes: Uint8Array,
  start: number,
  end: number,
): DecodedHeaders | undefined {
  const { last } = cache;
  if (isSame(last, version, bytes, start, end)) return last.list;
  const found = cache.slots[sampledHash(bytes, start, end) & (SLOTS - 1)];
  if (!isSame(found, version, bytes, start, end)) return undefined;
  cache.last = found;
  return found.list;
}

function isSame(
  block: RememberedBlock | undefined,
  version: object,
  bytes: Uint8Array,
  start: number,
  end: number,
): block is RememberedBlock {
  if (block?.version !== version || block.key.length !== end - start) return false;
  return isKey(block.key, bytes, start);
}

/** A block that is in use is replaced only by one that comes twice. */
export function rememberBlock(
  cache: BlockCache,
  version: object,
  bytes: Uint8Array,
  start: number,
  end: number,
  list: DecodedHeaders,
): void {
  if (end - start > LONGEST_BLOCK || list.listBytes > LARGEST_KEPT) return;
  const hash = sampledHash(bytes, start, end);
  const slot = hash & (SLOTS - 1);
  if (cache.slots[slot]?.version === version && cache.rivals[slot] !== hash) {
    cache.rivals[slot] = hash;
    return;
  }
  cache.slots[slot] = { key: createOctetKey(bytes, start, end), version, list };
}
