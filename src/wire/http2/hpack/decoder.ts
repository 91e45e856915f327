import { byteAt, latin1Text, NO_BYTES } from '../../bytes';
import {
  createDynamicTable,
  dynamicField,
  insertField,
  resizeTable,
  watchChanges,
  createBlockCache,
  recallBlock,
  rememberBlock,
} from './dynamic-table';
import { beginReading, readInteger, refuse, type BlockReader } from './block-reader';
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
  finishList,
  MAX_KEPT_BYTES,
  type DecodedHeaders,
  type HeaderDraft,
} from './header-list';
import { createHeaderReader, type HeaderReader } from './header-reader';
import { BAD_VALUE, decodeLiteral, LITERAL_LENGTH, measureLiteral, readLiteral } from './literal';
import { STATIC_TABLE_LENGTH } from './static-table';

/** HEADER_TABLE_SIZE before any SETTINGS (RFC 9113 §6.5.2). */
export const INITIAL_TABLE_BYTES = 4096;
/** The result for an invalid index; the reader then has a fault. */
const NO_FIELD: HeaderField = {
  name: '',
  value: '',
  kind: 0,
  isValidValue: true,
  size: 0,
  derived: undefined,
};

/** The receiving direction of a connection's header compression (RFC 7541). */
export function createHpackDecoder(
  maxListBytes: number,
  cacheBlocks: boolean,
  headers = createHeaderReader(),
) {
  const table = createDynamicTable(INITIAL_TABLE_BYTES);
  return {
    table,
    blocks: cacheBlocks ? createBlockCache(table) : undefined,
    headers,
    last: undefined as DecodedHeaders | undefined,
    maxListBytes,
    /** The largest size update allowed: our SETTINGS_HEADER_TABLE_SIZE. */
    tableLimit: INITIAL_TABLE_BYTES,
    /** Our smaller limit was acknowledged: the next block must begin with a size update (RFC 9113 §4.3.1). */
    owesSizeUpdate: false,
  };
}

export type HpackDecoder = ReturnType<typeof createHpackDecoder>;

/** Applies our own SETTINGS_HEADER_TABLE_SIZE, which the peer has acknowledged. */
export function limitTable(decoder: HpackDecoder, bytes: number): void {
  decoder.tableLimit = bytes;
  decoder.owesSizeUpdate = decoder.table.maxBytes > bytes;
}

/**
 * Decodes one whole header block. Undefined is a COMPRESSION_ERROR, and `decoder.headers.block.fault` says why until the
 * next block is read: the connection cannot go on, because the two dynamic tables may differ.
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
  const recalled = recallBlock(blocks, bytes, start, end);
  if (recalled !== undefined) return recalled;
  watchChanges(table);
  const list = decodeFields(decoder, bytes, start, end);
  if (list !== undefined && !table.isChanged) {
    rememberBlock(blocks, bytes, start, end, list);
  }
  return list;
}

function decodeFields(
  decoder: HpackDecoder,
  bytes: Uint8Array,
  start: number,
  end: number,
): DecodedHeaders | undefined {
  const { block: reader, draft, lists } = decoder.headers;
  beginReading(reader, bytes, start, end);
  readSizeUpdates(decoder, reader);
  beginList(draft);
  while (reader.at < end) {
    if (byteAt(bytes, reader.at) < 0x80) readUnindexed(decoder, reader, draft);
    else addField(draft, decoder.maxListBytes, fieldAt(decoder, reader, readInteger(reader, 7)));
  }
  reader.bytes = NO_BYTES;
  if (reader.fault !== undefined) return undefined;
  const list = finishList(draft, decoder.last, lists);
  if (list.listBytes <= MAX_KEPT_BYTES) decoder.last = list;
  return list;
}

/** Dynamic table size updates are allowed at the beginning of a block only (RFC 7541 §4.2, §6.3). */
function readSizeUpdates(decoder: HpackDecoder, reader: BlockReader): void {
  while (reader.at < reader.end && (byteAt(reader.bytes, reader.at) & 0xe0) === 0x20) {
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

/** Reads anything but an indexed field (RFC 7541 §6.1). */
function readUnindexed(decoder: HpackDecoder, reader: BlockReader, list: HeaderDraft): void {
  const first = byteAt(reader.bytes, reader.at);
  if (first >= 0x40) {
    readIndexedLiteral(decoder, reader, list);
  } else if (first >= 0x20) {
    refuse(reader, 'a table size update follows a field');
  } else {
    addField(list, decoder.maxListBytes, readLiteralField(decoder, reader, readInteger(reader, 4)));
  }
}

/** RFC 7541 §6.2.1: a literal to insert into the dynamic table. */
function readIndexedLiteral(decoder: HpackDecoder, reader: BlockReader, list: HeaderDraft): void {
  const field = readLiteralField(decoder, reader, readInteger(reader, 6));
  if (reader.fault !== undefined) return;
  insertField(decoder.table, field);
  addField(list, decoder.maxListBytes, field);
}

/** A literal field (RFC 7541 §6.2), whose name is at `index` of the tables or, for 0, a literal too. */
function readLiteralField(decoder: HpackDecoder, reader: BlockReader, index: number): HeaderField {
  const named = index === 0 ? readName(decoder.headers, reader) : fieldAt(decoder, reader, index);
  const { name, kind } = named;
  if (kind === FieldKind.unread) {
    return withValue(named, '', measureLiteral(decoder.headers.literals, reader));
  }
  if (kind === FieldKind.replaced) return readReplaced(decoder.headers, reader, named);
  const literal = readLiteral(decoder.headers.literals, reader);
  if (reader.fault !== undefined) return NO_FIELD;
  if (literal.asValue?.name !== name) {
    const { text: value, isValidValue } = literal;
    const size = fieldSize(name, value.length);
    literal.asValue = { name, value, kind, isValidValue, size, derived: undefined };
  }
  return literal.asValue;
}

/** Reads a value that a placeholder may replace. Its own length counts in the table and in lists. */
function readReplaced(
  { literals, placeholder }: HeaderReader,
  reader: BlockReader,
  named: HeaderField,
): HeaderField {
  const read = decodeLiteral(literals, reader);
  const length = read & LITERAL_LENGTH;
  const { scratch } = literals;
  const value = placeholder?.placeholderFor(scratch, length) ?? latin1Text(scratch, 0, length);
  return withValue(named, value, read);
}

/** A field of the same name; `named` itself if nothing else differs. `read` is what `measureLiteral` returned. */
function withValue(named: HeaderField, value: string, read: number): HeaderField {
  const { name, kind, derived } = named;
  const isValidValue = (read & BAD_VALUE) === 0;
  const size = fieldSize(name, read & LITERAL_LENGTH);
  if (matches(named, value, isValidValue, size)) return named;
  if (derived !== undefined && matches(derived, value, isValidValue, size)) return derived;
  const field: HeaderField = { name, value, kind, isValidValue, size, derived: undefined };
  // Only from fields without a value, so that no peer can build a chain.
  if (named.size === fieldSize(name, 0)) named.derived = field;
  return field;
}

function matches(field: HeaderField, value: string, isValidValue: boolean, size: number): boolean {
  return field.size === size && field.isValidValue === isValidValue && field.value === value;
}

function readName(
  { literals, readNames, placeholder }: HeaderReader,
  reader: BlockReader,
): HeaderField {
  const literal = readLiteral(literals, reader);
  if (reader.fault !== undefined) return NO_FIELD;
  const { text: name } = literal;
  literal.asName ??= {
    name,
    value: '',
    kind: kindForReader(fieldKind(name), name, readNames, placeholder?.name),
    isValidValue: true,
    size: fieldSize(name, 0),
    derived: undefined,
  };
  return literal.asName;
}

function fieldSize(name: string, valueLength: number): number {
  return name.length + valueLength + FIELD_OVERHEAD;
}

function fieldAt(
  { table, headers: { staticTable } }: HpackDecoder,
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
