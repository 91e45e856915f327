/** A TZif file as a test writes it (RFC 9636). */
export interface TzifText {
  readonly version?: string;
  readonly changes?: readonly (readonly [seconds: bigint | number, type: number])[];
  readonly offsets?: readonly number[];
  readonly leaps?: number;
  /** The last line; undefined: without its ends of line too. */
  readonly footer?: string | undefined;
}

/** A file with empty 32-bit data, as `zic -b slim` writes them. */
export function writeTzif(text: TzifText = {}): Buffer {
  const { version = '2', changes = [], offsets = [0], leaps = 0 } = text;
  const header = (counts: readonly number[]): Buffer => {
    const bytes = Buffer.alloc(44);
    bytes.write(`TZif${version}`, 'latin1');
    for (const [index, count] of counts.entries()) bytes.writeUInt32BE(count, 20 + 4 * index);
    return bytes;
  };
  const times = Buffer.alloc(8 * changes.length);
  for (const [index, [seconds]] of changes.entries())
    times.writeBigInt64BE(BigInt(seconds), 8 * index);
  const types = Buffer.alloc(6 * offsets.length);
  for (const [index, offset] of offsets.entries()) types.writeInt32BE(offset, 6 * index);
  const footer = 'footer' in text ? text.footer : '';
  return Buffer.concat([
    header([0, 0, 0, 0, 1, 1]),
    Buffer.alloc(7),
    header([0, 0, leaps, changes.length, offsets.length, 4]),
    times,
    Buffer.from(changes.map(([, type]) => type)),
    types,
    Buffer.from('UTC\0'),
    Buffer.alloc(12 * leaps),
    Buffer.from(footer === undefined ? '' : `\n${footer}\n`),
  ]);
}
