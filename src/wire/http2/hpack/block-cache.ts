import { createByteKey, isKey, sampledHash, type ByteKey } from '../../byte-key';
import type { DynamicTable } from './dynamic-table';
import { MAX_KEPT_BYTES, type DecodedHeaders } from './header-list';

interface CachedBlock {
  readonly key: ByteKey;
  /** The dynamic table's version for which these bytes meant this list. */
  readonly version: object;
  readonly list: DecodedHeaders;
}

/**
 * Header lists by the bytes of their block. Only for blocks that do not change the dynamic table, and valid only until
 * something else changes it: then equal bytes mean equal lists. Bounded: the slots, and the last one, times the two sizes.
 */
export interface BlockCache {
  readonly table: DynamicTable;
  readonly slots: (CachedBlock | undefined)[];
  /** Per slot: the hash of the last block that found the slot taken. */
  readonly rivals: Int32Array;
  last: CachedBlock | undefined;
}

const SLOTS = 16;
const MAX_BLOCK_BYTES = 512;

export function createBlockCache(table: DynamicTable): BlockCache {
  return {
    table,
    slots: new Array<CachedBlock | undefined>(SLOTS).fill(undefined),
    rivals: new Int32Array(SLOTS).fill(-1),
    last: undefined,
  };
}

/** The list of an equal earlier block, or undefined. */
export function recallBlock(
  cache: BlockCache,
  bytes: Uint8Array,
  start: number,
  end: number,
): DecodedHeaders | undefined {
  // Without a version nothing cached is valid: peers whose blocks change the table pay nothing for the cache.
  const { version } = cache.table;
  if (version === undefined) return undefined;
  const { last } = cache;
  if (matches(last, version, bytes, start, end)) return last.list;
  const found = cache.slots[sampledHash(bytes, start, end) & (SLOTS - 1)];
  if (!matches(found, version, bytes, start, end)) return undefined;
  cache.last = found;
  return found.list;
}

function matches(
  block: CachedBlock | undefined,
  version: object,
  bytes: Uint8Array,
  start: number,
  end: number,
): block is CachedBlock {
  if (block?.version !== version || block.key.length !== end - start) return false;
  return isKey(block.key, bytes, start);
}

/** Caches the list of a block that did not change the table. A valid entry is replaced only by a block seen twice. */
export function rememberBlock(
  cache: BlockCache,
  bytes: Uint8Array,
  start: number,
  end: number,
  list: DecodedHeaders,
): void {
  const version = (cache.table.version ??= {});
  if (end - start > MAX_BLOCK_BYTES || list.listBytes > MAX_KEPT_BYTES) return;
  const hash = sampledHash(bytes, start, end);
  const slot = hash & (SLOTS - 1);
  if (cache.slots[slot]?.version === version && cache.rivals[slot] !== hash) {
    cache.rivals[slot] = hash;
    return;
  }
  cache.slots[slot] = { key: createByteKey(bytes, start, end), version, list };
}
