import { connect, type Socket } from 'node:net';
import type { WriteHeaders } from './generator-headers';

const FRAME_HEADER_BYTES = 9;
const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const PING = 6;
const GOAWAY = 7;
const NO_ERROR = 0;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
/** More than a HEADERS and a DATA frame of ours take. */
const ROOM_PER_CALL = 640;
const GRANT_BYTES = 0x4000_0000;
/**
 * Calls whose start is remembered: more are never in flight, and what is larger does not stay in a near cache. A call that so
 * many later ones overtook would count from the start of one of them; answers come in the order of batches.
 */
const RING = 1_024;

/** What came back, over all connections. */
export interface Outcome {
  ok: number;
  overLimit: number;
  /** Answers without a decision: a status other than OK, or a reset. */
  errors: number;
}

export interface CallSource {
  readonly writeHeaders: WriteHeaders;
  /** Length-prefixed messages, asked one after the other. */
  readonly messages: readonly Uint8Array[];
  readonly outcome: Outcome;
  /** A call that was due at `dueMs` and left at `sentMs` has its answer. */
  readonly onAnswer: (dueMs: number, sentMs: number, nowMs: number) => void;
  /** `answered` calls of this connection have their answers since the last time. */
  readonly onTurn: (connection: GeneratorConnection, answered: number) => void;
  /** The server takes no more calls on it (GOAWAY without an error); those in flight get their answers. */
  readonly onLeaving: (connection: GeneratorConnection) => void;
}

/** One HTTP/2 connection of the generator: frames by hand, one write for all calls of a turn. */
export interface GeneratorConnection {
  /** Sends `count` calls in one write. */
  readonly send: (count: number, dueMs: number) => void;
  readonly inFlight: number;
  readonly isLeaving: boolean;
  readonly end: () => void;
}

interface ReceivingConnection extends GeneratorConnection {
  /** Keeps nothing of the chunk. */
  readonly receive: (chunk: Buffer) => void;
}

/** What one read takes, of all connections: it is looked at before the next. */
const READ_BUFFER = Buffer.alloc(65_536);

/** Settles when the server's SETTINGS have come. */
export async function openGeneratorConnection(
  host: string,
  port: number,
  source: CallSource,
): Promise<GeneratorConnection> {
  let receive: (chunk: Buffer) => void = () => undefined;
  // Costs less than the events of a stream: a caller that is slower than the service makes its batches smaller.
  const callback = (length: number): true => {
    receive(READ_BUFFER.subarray(0, length));
    return true;
  };
  const onread = { buffer: READ_BUFFER, callback };
  const socket = connect({ host, port, noDelay: true, onread });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  socket.write(
    Buffer.concat([
      Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
      Buffer.from([0, 0, 6, SETTINGS, 0, 0, 0, 0, 0, 0, 4, 0x40, 0, 0, 0]),
      windowUpdate(GRANT_BYTES),
    ]),
  );
  return new Promise((resolve) => {
    const connection = createConnection(socket, source, () => {
      resolve(connection);
    });
    ({ receive } = connection);
  });
}

function createConnection(
  socket: Socket,
  source: CallSource,
  onSettings: () => void,
): ReceivingConnection {
  const { writeHeaders, messages, outcome, onAnswer, onTurn, onLeaving } = source;
  const dueAt = new Float64Array(RING);
  const sentAt = new Float64Array(RING);
  let memory = Buffer.allocUnsafeSlow(64 * ROOM_PER_CALL);
  let tail = Buffer.alloc(0);
  let nextId = 1;
  let nextMessage = Math.floor(Math.random() * messages.length);
  let inFlight = 0;
  let taken = 0;
  let isLeaving = false;
  let isEnded = false;

  const writeCall = (at: number): number => {
    const message = messages[nextMessage] as Uint8Array;
    nextMessage = nextMessage + 1 === messages.length ? 0 : nextMessage + 1;
    const blockEnd = writeHeaders(memory, at + FRAME_HEADER_BYTES);
    putHeader(memory, at, blockEnd - at - FRAME_HEADER_BYTES, HEADERS, END_HEADERS, nextId);
    putHeader(memory, blockEnd, message.length, DATA, END_STREAM, nextId);
    const start = blockEnd + FRAME_HEADER_BYTES;
    for (let i = 0; i < message.length; i++) memory[start + i] = message[i] as number;
    nextId += 2;
    return start + message.length;
  };

  const answered = (streamId: number, nowMs: number): void => {
    const slot = (streamId >> 1) & (RING - 1);
    inFlight -= 1;
    onAnswer(dueAt[slot] as number, sentAt[slot] as number, nowMs);
  };

  const takeControl = (bytes: Buffer, at: number, type: number, flags: number, end: number) => {
    if (type === SETTINGS && (flags & ACK) === 0) {
      socket.write(Buffer.from([0, 0, 0, SETTINGS, ACK, 0, 0, 0, 0]));
      onSettings();
    } else if (type === PING && (flags & ACK) === 0) {
      const reply = Buffer.from(bytes.subarray(at, end));
      reply[4] = ACK;
      socket.write(reply);
    } else if (type === GOAWAY && bytes.readUInt32BE(at + 13) !== NO_ERROR) {
      throw new Error(`the server said goodbye: ${bytes.toString('latin1', at + 17, end)}`);
    } else if (type === GOAWAY && !isLeaving) {
      isLeaving = true;
      onLeaving(connection);
    }
  };

  const take = (bytes: Buffer, at: number, end: number, nowMs: number): number => {
    const type = bytes[at + 3] as number;
    const flags = bytes[at + 4] as number;
    if (type === DATA) {
      taken += end - at - FRAME_HEADER_BYTES;
      // Behind the prefix of five octets the overall code is the first field of the answer.
      if (bytes[at + 15] === 1) outcome.ok += 1;
      else outcome.overLimit += 1;
      return 0;
    }
    const streamId = bytes.readUInt32BE(at + 5);
    if (type === HEADERS && (flags & END_STREAM) === 0) return 0;
    if (type === HEADERS || type === RST_STREAM) {
      if (type === RST_STREAM) outcome.errors += 1;
      answered(streamId, nowMs);
      return 1;
    }
    takeControl(bytes, at, type, flags, end);
    return 0;
  };

  const receive = (chunk: Buffer): void => {
    const bytes = tail.length === 0 ? chunk : Buffer.concat([tail, chunk]);
    const nowMs = performance.now();
    let at = 0;
    let count = 0;
    while (bytes.length - at >= FRAME_HEADER_BYTES) {
      const end = at + FRAME_HEADER_BYTES + bytes.readUIntBE(at, 3);
      if (end > bytes.length) break;
      count += take(bytes, at, end, nowMs);
      at = end;
    }
    tail = at === bytes.length ? EMPTY : Buffer.from(bytes.subarray(at));
    if (taken > GRANT_BYTES / 2) {
      socket.write(windowUpdate(taken));
      taken = 0;
    }
    if (count > 0) onTurn(connection, count);
  };

  const connection: ReceivingConnection = {
    receive,
    send(count, dueMs) {
      if (count * ROOM_PER_CALL > memory.length || socket.writableLength > 0) {
        memory = Buffer.allocUnsafeSlow(Math.max(memory.length, count * ROOM_PER_CALL));
      }
      const sentMs = performance.now();
      let at = 0;
      for (let i = 0; i < count; i++) {
        const slot = (nextId >> 1) & (RING - 1);
        dueAt[slot] = dueMs === 0 ? sentMs : dueMs;
        sentAt[slot] = sentMs;
        at = writeCall(at);
      }
      inFlight += count;
      socket.write(memory.subarray(0, at));
    },
    get inFlight() {
      return inFlight;
    },
    get isLeaving() {
      return isLeaving;
    },
    end() {
      isEnded = true;
      socket.destroy();
    },
  };
  socket.on('close', () => {
    if (!isEnded && !(isLeaving && inFlight === 0))
      throw new Error(`the server closed a connection with ${String(inFlight)} calls`);
  });
  return connection;
}

const EMPTY = Buffer.alloc(0);

function putHeader(
  bytes: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  id: number,
): void {
  bytes[at] = 0;
  bytes[at + 1] = length >>> 8;
  bytes[at + 2] = length;
  bytes[at + 3] = type;
  bytes[at + 4] = flags;
  bytes[at + 5] = id >>> 24;
  bytes[at + 6] = id >>> 16;
  bytes[at + 7] = id >>> 8;
  bytes[at + 8] = id;
}

function windowUpdate(increment: number): Buffer {
  const frame = Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  frame.writeUInt32BE(increment, FRAME_HEADER_BYTES);
  return frame;
}
