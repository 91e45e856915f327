import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { SHOULD_RATE_LIMIT, encodeRequest } from './grpc-client';
import { eventually } from './eventually';
import {
  END_HEADERS,
  END_STREAM,
  Type,
  data,
  describeFrame,
  field,
  frame,
  hello,
  parseFrames,
  ping,
  settingsAck,
} from '../h2-frames';

/** Headers of a call as a proxy sends them, without a dynamic table. */
const CALL_BLOCK = Buffer.concat([
  Buffer.from([0x83, 0x86]),
  field(':path', SHOULD_RATE_LIMIT),
  field(':authority', 'rls.test'),
  field('te', 'trailers'),
  field('content-type', 'application/grpc'),
]);

const MESSAGE = encodeRequest({
  domain: 'example',
  descriptors: [{ entries: [{ key: 'path', value: '/static/a' }] }],
});
const PREFIXED = Buffer.concat([Buffer.from([0, 0, 0, 0, MESSAGE.length]), MESSAGE]);

/** The headers of a call whose message does not come yet. */
export const openCall = (id: number) => frame(Type.headers, END_HEADERS, id, CALL_BLOCK);
/** The beginning of such headers; CONTINUATION must follow. */
export const beginHeaders = (id: number) => frame(Type.headers, END_STREAM, id, CALL_BLOCK);
/** A whole call. */
export const wholeCall = (id: number) =>
  Buffer.concat([openCall(id), data(id, PREFIXED, END_STREAM)]);

/** The octets of `count` times something, by the ids of streams that a client may open. */
export const repeat = (count: number, make: (id: number) => Uint8Array, first = 1) =>
  Buffer.concat(Array.from({ length: count }, (_, index) => make(first + 2 * index)));

/** A raw connection that says what it likes. */
export interface Attacker {
  readonly socket: Socket;
  /** Settles when the octets are in the kernel, or the connection is gone. */
  send(...octets: Uint8Array[]): Promise<void>;
  /** The frames that came, in words. */
  seen(): string[];
  readonly isClosed: () => boolean;
  /** Settles when the other side has closed. */
  readonly closed: Promise<unknown>;
}

/** Connects; says nothing. */
export async function connectRaw(address: string): Promise<Attacker> {
  const [host = '', port = ''] = address.split(':');
  const socket = connect({ host, port: Number(port), noDelay: true });
  const pieces: Buffer[] = [];
  let isClosed = false;
  socket.on('error', () => undefined).on('data', (piece) => pieces.push(piece));
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      resolve();
    });
  });
  await once(socket, 'connect');
  return {
    socket,
    send: (...octets) =>
      new Promise((resolve) => {
        void closed.then(resolve);
        socket.write(Buffer.concat(octets), () => {
          resolve();
        });
      }),
    seen: () => parseFrames(wholeFrames(Buffer.concat(pieces))).map(describeFrame),
    isClosed: () => isClosed,
    closed,
  };
}

/** Connects and says what every client says first. */
export async function connectAttacker(
  address: string,
  ...settings: (readonly [id: number, value: number])[]
): Promise<Attacker> {
  const attacker = await connectRaw(address);
  await attacker.send(hello(...settings), settingsAck());
  return attacker;
}

/** Settles when everything sent before has been read. */
export async function ponged({ send, seen }: Attacker): Promise<void> {
  const pongs = () => seen().filter((each) => each.startsWith('ping ack')).length;
  const before = pongs();
  await send(ping());
  await eventually(() => {
    if (pongs() === before) throw new Error(`no answer to a PING, but ${seen().slice(-5).join()}`);
  });
}

/** What was read may end within a frame. */
function wholeFrames(bytes: Buffer): Buffer {
  let at = 0;
  while (at + 9 <= bytes.length && at + 9 + bytes.readUIntBE(at, 3) <= bytes.length)
    at += 9 + bytes.readUIntBE(at, 3);
  return bytes.subarray(0, at);
}
