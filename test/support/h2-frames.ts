/** A client's side of HTTP/2 by hand: frames to send, and what came back taken apart. */

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

export const Type = {
  data: 0,
  headers: 1,
  priority: 2,
  rst: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const END_STREAM = 0x1;
export const ACK = 0x1;
export const END_HEADERS = 0x4;
export const PADDED = 0x8;

export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Uint8Array | string = '',
) {
  const body = typeof payload === 'string' ? Buffer.from(payload, 'hex') : Buffer.from(payload);
  const header = Buffer.alloc(9);
  header.writeUIntBE(body.length, 0, 3);
  header[3] = type;
  header[4] = flags;
  header.writeUInt32BE(streamId >>> 0, 5);
  return Buffer.concat([header, body]);
}

export function uint32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, index * 4));
  return bytes;
}

export function settings(...pairs: (readonly [id: number, value: number])[]): Buffer {
  const payload = pairs.map(([id, value]) => Buffer.concat([Buffer.from([0, id]), uint32(value)]));
  return frame(Type.settings, 0, 0, Buffer.concat(payload));
}

export const settingsAck = () => frame(Type.settings, ACK, 0);
export const data = (id: number, body: string | Uint8Array, flags = 0) =>
  frame(Type.data, flags, id, typeof body === 'string' ? Buffer.from(body) : body);
export const rst = (id: number, code = 8) => frame(Type.rst, 0, id, uint32(code));
export const windowUpdate = (id: number, increment: number) =>
  frame(Type.windowUpdate, 0, id, uint32(increment));
export const ping = (payload = '0102030405060708', flags = 0) =>
  frame(Type.ping, flags, 0, payload);

/** What every client says first. */
export const hello = (...pairs: (readonly [id: number, value: number])[]) =>
  Buffer.concat([PREFACE, settings(...pairs)]);

/** A plain string literal (RFC 7541 §5.2) of fewer than 127 octets. */
export function plain(text: string): Buffer {
  return Buffer.concat([Buffer.from([text.length]), Buffer.from(text, 'latin1')]);
}

/** A literal field with a new name: 0x00 without indexing, 0x10 never indexed, 0x40 with indexing. */
export function field(name: string, value: string, pattern = 0): Buffer {
  return Buffer.concat([Buffer.from([pattern]), plain(name), plain(value)]);
}

export const POST_ROOT = Buffer.concat([
  Buffer.from([0x83, 0x84, 0x86]),
  field(':authority', 'rls.test'),
]);

export function request(id: number, flags = END_STREAM, ...more: Uint8Array[]): Buffer {
  return frame(Type.headers, END_HEADERS | flags, id, Buffer.concat([POST_ROOT, ...more]));
}

export interface SeenFrame {
  readonly type: number;
  readonly flags: number;
  readonly id: number;
  readonly payload: Buffer;
}

export function parseFrames(bytes: Uint8Array): SeenFrame[] {
  const all = Buffer.from(bytes);
  const frames: SeenFrame[] = [];
  for (let at = 0; at < all.length;) {
    const length = all.readUIntBE(at, 3);
    frames.push({
      type: all[at + 3] ?? -1,
      flags: all[at + 4] ?? -1,
      id: all.readUInt32BE(at + 5),
      payload: all.subarray(at + 9, at + 9 + length),
    });
    at += 9 + length;
  }
  return frames;
}

type Describe = (seen: SeenFrame, id: string) => string;

const isAck = (seen: SeenFrame) => (seen.flags & ACK) !== 0;
const end = (seen: SeenFrame) => ((seen.flags & END_STREAM) === 0 ? '' : ' end');

const DESCRIBE: Readonly<Record<number, Describe>> = {
  [Type.data]: (seen, id) => `data#${id} ${String(seen.payload.length)}${end(seen)}`,
  [Type.headers]: (seen, id) => `headers#${id}${end(seen)}`,
  [Type.rst]: ({ payload }, id) => `rst#${id} ${String(payload.readUInt32BE(0))}`,
  [Type.settings]: (seen) => (isAck(seen) ? 'settings ack' : 'settings'),
  [Type.ping]: (seen) => `ping${isAck(seen) ? ' ack' : ''} ${seen.payload.toString('hex')}`,
  [Type.goAway]: ({ payload }) =>
    `goAway ${String(payload.readUInt32BE(4))} last ${String(payload.readUInt32BE(0))}`,
  [Type.windowUpdate]: ({ payload }, id) => `windowUpdate#${id} ${String(payload.readUInt32BE(0))}`,
  [Type.continuation]: (_seen, id) => `continuation#${id}`,
};

/** A frame in a few words: `headers#1 end`, `rst#3 5`, `goAway 1 last 3`. */
export function describeFrame(seen: SeenFrame): string {
  return DESCRIBE[seen.type]?.(seen, String(seen.id)) ?? `type ${String(seen.type)}`;
}
