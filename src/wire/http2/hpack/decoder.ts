import type { StandIn } from '../api';
import { octetAt } from '../octets';
import { createBlockCache, recallBlock, rememberBlock, type BlockCache } from './block-cache';
import { beginReading, readInteger, refuse, type BlockReader } from './block-reader';
import {
  createDynamicTable,
  dynamicField,
  insertField,
  resizeTable,
  type DynamicTable,
} from './dynamic-table';
import {
  FIELD_OVERHEAD,
  FieldKind,
  fieldKind,
  kindForReader,
  type HeaderField,
} from './header-field';
import {
  addField,
  beginList,
  countField,
  createHeaderDraft,
  finishList,
  LARGEST_KEPT,
  type DecodedHeaders,
  type HeaderDraft,
} from './header-list';
import { latin1Text } from './latin1-text';
import {
  BAD_VALUE,
  createLiteralReader,
  readLiteral,
  skimLiteral,
  type LiteralReader,
} from './literal';
import { sampledHash } from './sampled-hash';
import { STATIC_TABLE_LENGTH, staticTableFor } from './static-table';

/** One direction of a connection's header compression (RFC 7541), the receiving one. */
export interface HpackDecoder {
  readonly table: DynamicTable;
  readonly literals: LiteralReader;
  readonly blocks: BlockCache | undefined;
  readonly reader: BlockReader;
  readonly draft: HeaderDraft;
  /** The last list that a block gave. */
  last: DecodedHeaders | undefined;
  readonly maxListBytes: number;
  /** Regular fields of other names are checked and counted, but not kept; undefined keeps all. */
  readonly readNames: ReadonlySet<string> | undefined;
  readonly standIn: StandIn | undefined;
  readonly staticTable: readonly HeaderField[];
  /** What a size update may ask for: our SETTINGS_HEADER_TABLE_SIZE. */
  tableLimit: number;
  /** Our smaller limit was acknowledged: the next block must begin with a size update (RFC 9113 §4.3.1). */
  owesSizeUpdate: boolean;
}

/** HEADER_TABLE_SIZE before any SETTINGS (RFC 9113 §6.5.2). */
export const INITIAL_TABLE_BYTES = 4096;
const NO_OCTETS = new Uint8Array(0);
/** What an index finds that leads nowhere; the reader then has a fault. */
const NO_FIELD: HeaderField = { name: '', value: '', kind: 0, valueOk: true, size: 0 };

export function createHpackDecoder(
  maxListBytes: number,
  cacheBlocks: boolean,
  readNames?: ReadonlySet<string>,
  standIn?: StandIn,
): HpackDecoder {
  return {
    table: createDynamicTable(INITIAL_TABLE_BYTES),
    literals: createLiteralReader(),
    blocks: cacheBlocks ? createBlockCache() : undefined,
    reader: { bytes: NO_OCTETS, at: 0, end: 0, fault: undefined },
    draft: createHeaderDraft(),
    last: undefined,
    maxListBytes,
    readNames,
    standIn,
    staticTable: staticTableFor(readNames),
    tableLimit: INITIAL_TABLE_BYTES,
    owesSizeUpdate: false,
  };
}

/** Our own SETTINGS_HEADER_TABLE_SIZE holds from now on: the peer has acknowledged it. */
export function limitTable(decoder: HpackDecoder, bytes: number): void {
  decoder.tableLimit = bytes;
  decoder.owesSizeUpdate = decoder.table.maxBytes > bytes;
}

/**
 * Decodes one whole header block. Undefined is a COMPRESSION_ERROR, and `decoder.reader.fault` says why: the
 * connection cannot go on, because the two dynamic tables may differ.
 */
export function decodeBlock(
  decoder: HpackDecoder,
  bytes: Uint8Array,
  start: number,
  end: number,
): DecodedHeaders | undefined {
  const { blocks, table } = decoder;
  if (blocks === undefined || decoder.owesSizeUpdate) {
    return decodeFields(decoder, bytes, start, end);
  }
  const hash = sampledHash(bytes, start, end);
  const { version } = table;
  const recalled = recallBlock(blocks, version, hash, bytes, start, end);
  if (recalled !== undefined) return recalled;
  const list = decodeFields(decoder, bytes, start, end);
  if (list !== undefined && table.version === version) {
    rememberBlock(blocks, version, hash, bytes, start, end, list);
  }
  return list;
}

function decodeFields(
  decoder: HpackDecoder,
  bytes: Uint8Array,
  start: number,
  end: number,
): DecodedHeaders | undefined {
  const { reader, draft } = decoder;
  beginReading(reader, bytes, start, end);
  readSizeUpdates(decoder, reader);
  beginList(draft);
  while (reader.at < end) readField(decoder, reader, draft);
  reader.bytes = NO_OCTETS;
  if (reader.fault !== undefined) return undefined;
  const list = finishList(draft, decoder.last);
  if (list.listBytes <= LARGEST_KEPT) decoder.last = list;
  return list;
}

/** Dynamic table size updates stand at the beginning of a block or nowhere (RFC 7541 §4.2, §6.3). */
function readSizeUpdates(decoder: HpackDecoder, reader: BlockReader): void {
  while (reader.at < reader.end && (octetAt(reader.bytes, reader.at) & 0xe0) === 0x20) {
    const bytes = readInteger(reader, 5);
    if (reader.fault !== undefined) return;
    if (bytes > decoder.tableLimit) {
      refuse(reader, 'a table size update is above the limit');
      return;
    }
    resizeTable(decoder.table, bytes);
    decoder.owesSizeUpdate = false;
  }
  if (decoder.owesSizeUpdate) refuse(reader, 'a table size update is missing');
}

function readField(decoder: HpackDecoder, reader: BlockReader, list: HeaderDraft): void {
  const first = octetAt(reader.bytes, reader.at);
  if (first >= 0x80) {
    takeField(decoder, list, fieldAt(decoder, reader, readInteger(reader, 7)));
  } else if (first >= 0x40) {
    readIndexedLiteral(decoder, reader, list);
  } else if (first >= 0x20) {
    refuse(reader, 'a table size update follows a field');
  } else {
    takeField(decoder, list, readLiteralField(decoder, reader, readInteger(reader, 4)));
  }
}

/** RFC 7541 §6.2.1: a literal that becomes the newest field of the dynamic table. */
function readIndexedLiteral(decoder: HpackDecoder, reader: BlockReader, list: HeaderDraft): void {
  const field = readLiteralField(decoder, reader, readInteger(reader, 6));
  if (reader.fault !== undefined) return;
  insertField(decoder.table, field);
  takeField(decoder, list, field);
}

function takeField({ maxListBytes }: HpackDecoder, list: HeaderDraft, field: HeaderField): void {
  const { kind, size, valueOk } = field;
  if (kind === FieldKind.unread) countField(list, maxListBytes, size, valueOk);
  else addField(list, maxListBytes, field);
}

/** A literal field (RFC 7541 §6.2), whose name is at `index` of the tables or, for 0, a literal too. */
function readLiteralField(decoder: HpackDecoder, reader: BlockReader, index: number): HeaderField {
  const { name, kind } = index === 0 ? readName(decoder, reader) : fieldAt(decoder, reader, index);
  const nameSize = name.length + FIELD_OVERHEAD;
  if (kind === FieldKind.unread) {
    const skimmed = skimLiteral(decoder.literals, reader);
    const valueOk = skimmed < BAD_VALUE;
    const size = nameSize + (valueOk ? skimmed : skimmed - BAD_VALUE);
    return { name, value: '', kind, valueOk, size };
  }
  if (kind === FieldKind.replaced) return readReplaced(decoder, reader, name);
  const { text, valueOk } = readLiteral(decoder.literals, reader);
  return { name, value: text, kind, valueOk, size: nameSize + text.length };
}

/** In the table and in lists it counts as what it is. */
function readReplaced(
  { literals, standIn }: HpackDecoder,
  reader: BlockReader,
  name: string,
): HeaderField {
  const skimmed = skimLiteral(literals, reader);
  const valueOk = skimmed < BAD_VALUE;
  const length = valueOk ? skimmed : skimmed - BAD_VALUE;
  const { scratch } = literals;
  const value = standIn?.textFor(scratch, length) ?? latin1Text(scratch, 0, length);
  return {
    name,
    value,
    kind: FieldKind.replaced,
    valueOk,
    size: name.length + FIELD_OVERHEAD + length,
  };
}

interface FieldName {
  readonly name: string;
  readonly kind: number;
}

function readName({ literals, readNames, standIn }: HpackDecoder, reader: BlockReader): FieldName {
  const literal = readLiteral(literals, reader);
  const name = literal.text;
  literal.kind ??= kindForReader(fieldKind(name), name, readNames, standIn?.name);
  return { name, kind: literal.kind };
}

function fieldAt(
  { table, staticTable }: HpackDecoder,
  reader: BlockReader,
  index: number,
): HeaderField {
  const field =
    index <= STATIC_TABLE_LENGTH
      ? staticTable[index - 1]
      : dynamicField(table, index - STATIC_TABLE_LENGTH - 1);
  if (field !== undefined) return field;
  refuse(reader, 'an index is not in the table');
  return NO_FIELD;
}
