import { FIELD_OVERHEAD, type HeaderField } from './header-field';
import { createByteKey, isKey, sampledHash, type ByteKey } from '../../bytes';
import { MAX_KEPT_BYTES, type DecodedHeaders } from './header-list';

const FIRST_RING = 16;
/** Positions wrap long before they leave the small integers; every ring length divides them. */
const POSITIONS = 0x3fffffff;

/** The decoder's dynamic table (RFC 7541 §2.3.2, §4): a ring, the newest field last. */
export function createDynamicTable(maxBytes: number) {
  return {
    /** Its length is a power of two; never shrinks. */
    ring: new Array<HeaderField | undefined>(FIRST_RING).fill(undefined),
    /** Where the next field goes, before masking. */
    next: 0,
    count: 0,
    bytes: 0,
    maxBytes,
    /**
     * Identifies the current content; the block cache creates and compares it. Undefined after each change. An object,
     * because a number would wrap around one day.
     */
    version: undefined as object | undefined,
    /** Whether anything changed since `watchChanges`. */
    isChanged: false,
  };
}

type DynamicTable = ReturnType<typeof createDynamicTable>;

/** The field that was inserted `age` fields ago: 0 is the newest (index 62 on the wire). */
export function dynamicField(table: DynamicTable, age: number): HeaderField | undefined {
  if (age >= table.count) return undefined;
  return table.ring[(table.next - 1 - age) & (table.ring.length - 1)];
}

/** RFC 7541 §4.4: a field larger than the table empties it, which is not an error. */
export function insertField(table: DynamicTable, field: HeaderField): void {
  const { size } = field;
  evict(table, table.maxBytes - size);
  noteChange(table);
  if (size > table.maxBytes) return;
  if (table.count === table.ring.length) widen(table);
  table.ring[table.next & (table.ring.length - 1)] = field;
  table.next = (table.next + 1) & POSITIONS;
  table.count++;
  table.bytes += size;
}

/** RFC 7541 §4.3. The caller has checked the limit of our SETTINGS. */
export function resizeTable(table: DynamicTable, maxBytes: number): void {
  table.maxBytes = maxBytes;
  evict(table, maxBytes);
  noteChange(table);
}

export function watchChanges(table: DynamicTable): void {
  table.isChanged = false;
}

function noteChange(table: DynamicTable): void {
  table.version = undefined;
  table.isChanged = true;
}

function evict(table: DynamicTable, room: number): void {
  while (table.bytes > room && table.count > 0) {
    const oldest = (table.next - table.count) & (table.ring.length - 1);
    const field = table.ring[oldest];
    table.bytes -= field?.size ?? FIELD_OVERHEAD;
    table.ring[oldest] = undefined;
    table.count--;
  }
}

function widen(table: DynamicTable): void {
  const old = table.ring;
  const wider = new Array<HeaderField | undefined>(old.length * 2).fill(undefined);
  for (let i = 0; i < table.count; i++) {
    const position = table.next - table.count + i;
    wider[position & (wider.length - 1)] = old[position & (old.length - 1)];
  }
  table.ring = wider;
}

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
