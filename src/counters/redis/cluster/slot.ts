/** Slots of every cluster. */
export const SLOTS = 16_384;

/** CRC-16/XMODEM, polynomial 0x1021: what the cluster specification asks for. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021;
  return crc & 0xffff;
});

/** The slot of a key; of a key with a part in braces (`a{b}c`) only that part counts. */
export function slotOf(key: string): number {
  const tag = hashTag(key);
  let crc = 0;
  for (let at = 0; at < tag.length; at += 1) {
    const code = tag.charCodeAt(at);
    if (code > 0x7f) return crcOfBytes(Buffer.from(tag)) % SLOTS;
    crc = next(crc, code);
  }
  return crc % SLOTS;
}

function crcOfBytes(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) crc = next(crc, byte);
  return crc;
}

function next(crc: number, byte: number): number {
  return ((crc << 8) & 0xffff) ^ (TABLE[(crc >> 8) ^ byte] as number);
}

function hashTag(key: string): string {
  const open = key.indexOf('{');
  if (open < 0) return key;
  const close = key.indexOf('}', open + 1);
  return close <= open + 1 ? key : key.slice(open + 1, close);
}
