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
import { fieldKind, type HeaderField } from './header-field';
import { addField, createHeaderList, type DecodedHeaders } from './header-list';
import { createLiteralReader, readLiteral, type LiteralReader } from './literal';
import { sampledHash } from './sampled-hash';
import { STATIC_TABLE, STATIC_TABLE_LENGTH } from './static-table';

/** One direction of a connection's header compression (RFC 7541), the receiving one. */
export interface HpackDecoder {
  readonly table: DynamicTable;
  readonly literals: LiteralReader;
  readonly blocks: BlockCache | undefined;
  readonly reader: BlockReader;
  readonly maxListBytes: number;
  /** What a size update may ask for: our SETTINGS_HEADER_TABLE_SIZE. */
  tableLimit: number;
  /** Our smaller limit was acknowledged: the next block must begin with a size update (RFC 9113 §4.3.1). */
  owesSizeUpdate: boolean;
}

/** HEADER_TABLE_SIZE before any SETTINGS (RFC 9113 §6.5.2). */
export const INITIAL_TABLE_BYTES = 4096;
const NO_OCTETS = new Uint8Array(0);
/** What an index finds that leads nowhere; the reader then has a fault. */
const NO_FIELD: HeaderField = { name: '', value: '', kind: 0, valueOk: true };

export function createHpackDecoder(maxListBytes: number, cacheBlocks: boolean): HpackDecoder {
  return {
    table: createDynamicTable(INITIAL_TABLE_BYTES),
    literals: createLiteralReader(),
    blocks: cacheBlocks ? createBlockCache() : undefined,
    reader: { bytes: NO_OCTETS, at: 0, end: 0, fault: undefined },
    maxListBytes,
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
  const { reader } = decoder;
  beginReading(reader, bytes, start, end);
  readSizeUpdates(decoder, reader);
  const list = createHeaderList();
  while (reader.at < end) readField(decoder, reader, list);
  reader.bytes = NO_OCTETS;
  return reader.fault === undefined ? list : undefined;
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

function readField(decoder: HpackDecoder, reader: BlockReader, list: DecodedHeaders): void {
  const first = octetAt(reader.bytes, reader.at);
  if (first >= 0x80) {
    const field = fieldAt(decoder.table, reader, readInteger(reader, 7));
    addField(list, decoder.maxListBytes, field.kind, field.name, field.value, field.valueOk);
  } else if (first >= 0x40) {
    readIndexedLiteral(decoder, reader, list);
  } else if (first >= 0x20) {
    refuse(reader, 'a table size update follows a field');
  } else {
    readPlainLiteral(decoder, reader, list);
  }
}

/** RFC 7541 §6.2.1: a literal that becomes the newest field of the dynamic table. */
function readIndexedLiteral(
  decoder: HpackDecoder,
  reader: BlockReader,
  list: DecodedHeaders,
): void {
  const index = readInteger(reader, 6);
  const named = index === 0 ? readName(decoder, reader) : fieldAt(decoder.table, reader, index);
  const { name, kind } = named;
  const { text, valueOk } = readLiteral(decoder.literals, reader);
  if (reader.fault !== undefined) return;
  insertField(decoder.table, { name, value: text, kind, valueOk });
  addField(list, decoder.maxListBytes, kind, name, text, valueOk);
}

/** RFC 7541 §6.2.2 and §6.2.3: a literal that leaves the table as it is. */
function readPlainLiteral(decoder: HpackDecoder, reader: BlockReader, list: DecodedHeaders): void {
  const index = readInteger(reader, 4);
  const named = index === 0 ? readName(decoder, reader) : fieldAt(decoder.table, reader, index);
  const { text, valueOk } = readLiteral(decoder.literals, reader);
  addField(list, decoder.maxListBytes, named.kind, named.name, text, valueOk);
}

function readName(decoder: HpackDecoder, reader: BlockReader): HeaderField {
  const literal = readLiteral(decoder.literals, reader);
  literal.kind ??= fieldKind(literal.text);
  return { name: literal.text, value: '', kind: literal.kind, valueOk: true };
}

function fieldAt(table: DynamicTable, reader: BlockReader, index: number): HeaderField {
  const field =
    index <= STATIC_TABLE_LENGTH
      ? STATIC_TABLE[index - 1]
      : dynamicField(table, index - STATIC_TABLE_LENGTH - 1);
  if (field !== undefined) return field;
  refuse(reader, 'an index is not in the table');
  return NO_FIELD;
}
