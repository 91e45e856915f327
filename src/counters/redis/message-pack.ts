/** A script's answer in MessagePack: counts, texts, and lists of both. */
export type Packed = number | string | readonly Packed[];

/** The bytes are not the reply of a script; the message says what was found and what was expected. */
export class PackError extends Error {
  override readonly name = 'PackError';
}

/**
 * Reads the output of `cmsgpack.pack` for numbers, texts and lists (MessagePack specification, formats int, float, str and array).
 * Numbers above 2^53 lose digits, as they did in the script. Throws a PackError.
 */
export function unpack(bytes: Buffer): Packed {
  const reader = { bytes, at: 0 };
  const value = readValue(reader);
  if (reader.at === bytes.length) return value;
  throw new PackError(`${String(bytes.length - reader.at)} bytes follow the script's reply`);
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

function readValue(reader: Reader): Packed {
  const type = readUint(reader, 1);
  if (type < 0x80) return type;
  if (type >= 0x90 && type < 0xa0) return readList(reader, type & 0x0f);
  if (type >= 0xa0 && type < 0xc0) return readText(reader, type & 0x1f);
  if (type >= 0xcc && type <= 0xcf) return readUint(reader, 1 << (type - 0xcc));
  return readLong(reader, type);
}

/** Texts and lists with an explicit length. */
function readLong(reader: Reader, type: number): Packed {
  if (type === 0xdc || type === 0xdd) return readList(reader, readUint(reader, (type - 0xdb) * 2));
  if (type >= 0xd9 && type <= 0xdb) return readText(reader, readUint(reader, 1 << (type - 0xd9)));
  return readOddNumber(reader, type);
}

/** Numbers that are rarely counts: negative, with a fraction, or above 2^53. */
function readOddNumber(reader: Reader, type: number): number {
  const { bytes } = reader;
  if (type >= 0xe0) return type - 0x100;
  if (type === 0xca) return bytes.readFloatBE(skip(reader, 4));
  if (type === 0xcb) return bytes.readDoubleBE(skip(reader, 8));
  if (type === 0xd3) return Number(bytes.readBigInt64BE(skip(reader, 8)));
  if (type >= 0xd0 && type <= 0xd2) {
    const size = 1 << (type - 0xd0);
    return bytes.readIntBE(skip(reader, size), size);
  }
  throw new PackError(
    `unexpected MessagePack type 0x${type.toString(16)} in the script's reply, expected a count, a string or a list`,
  );
}

function readList(reader: Reader, length: number): readonly Packed[] {
  const list: Packed[] = [];
  for (let i = 0; i < length; i++) list.push(readValue(reader));
  return list;
}

function readText(reader: Reader, length: number): string {
  const start = skip(reader, length);
  return reader.bytes.toString('utf8', start, reader.at);
}

/** A big-endian number of this many bytes. */
function readUint(reader: Reader, size: number): number {
  const start = skip(reader, size);
  let value = 0;
  for (let at = start; at < reader.at; at++) value = value * 256 + (reader.bytes[at] as number);
  return value;
}

/** Skips bytes and returns where they begin. */
function skip(reader: Reader, size: number): number {
  const start = reader.at;
  reader.at += size;
  if (reader.at > reader.bytes.length) throw new PackError("the script's reply is cut off");
  return start;
}
