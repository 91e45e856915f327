import { parseFrames, PREFACE, Type, type SeenFrame } from '../support/h2-frames';
import { splitFrames } from './sessions';

const FIRST_WINDOW = 65_535;
const NO_ERROR = 0;
/** STREAM_CLOSED; and for a PRIORITY frame, which may come in any state, FRAME_SIZE_ERROR and PROTOCOL_ERROR. */
const LATE_CODES = [NO_ERROR, 5, 6, 1];
const ACK = 1;

/** What the octets of a peer allow us to send at most, whatever they mean otherwise. */
interface Allowed {
  pings: number;
  settings: number;
  /** Octets of DATA by stream; 0 is the connection. */
  readonly windows: Map<number, number>;
  initialWindow: number;
}

export function allowedBy(input: Buffer): Allowed {
  const allowed: Allowed = {
    pings: 0,
    settings: 0,
    windows: new Map(),
    initialWindow: FIRST_WINDOW,
  };
  if (!input.subarray(0, PREFACE.length).equals(PREFACE)) return allowed;
  for (const piece of splitFrames(input).slice(1)) {
    if (piece.length >= 9)
      note(allowed, piece[3], piece.readUInt32BE(5) & 0x7fffffff, piece.subarray(9));
  }
  return allowed;
}

function note(allowed: Allowed, type: number | undefined, id: number, payload: Buffer): void {
  if (type === Type.ping) allowed.pings++;
  if (type === Type.settings) {
    allowed.settings++;
    for (let at = 0; at + 6 <= payload.length; at += 6) {
      if (payload.readUInt16BE(at) !== 4) continue;
      allowed.initialWindow = Math.max(allowed.initialWindow, payload.readUInt32BE(at + 2));
    }
  }
  if (type === Type.windowUpdate && payload.length === 4) {
    const increment = payload.readUInt32BE(0) & 0x7fffffff;
    allowed.windows.set(id, (allowed.windows.get(id) ?? 0) + increment);
  }
}

interface StreamSoFar {
  phase: 'silent' | 'answering' | 'ended' | 'reset';
  dataBytes: number;
}

/**
 * Throws unless what we wrote is whole frames in an order that RFC 9113 §5.1 allows, nothing is answered twice, and no
 * DATA goes beyond a window that the peer gave.
 */
export function checkOutput(input: Buffer, output: Buffer): void {
  const frames = parseFrames(output);
  const allowed = allowedBy(input);
  checkGoAways(frames);
  checkAnswers(frames, allowed);
  const streams = new Map<number, StreamSoFar>();
  let dataBytes = 0;
  for (const seen of frames.filter(({ id }) => id !== 0)) {
    const stream = streams.get(seen.id) ?? { phase: 'silent', dataBytes: 0 };
    streams.set(seen.id, stream);
    step(stream, seen);
    if (seen.type === Type.data) {
      dataBytes += seen.payload.length;
      stream.dataBytes += seen.payload.length;
    }
    const window = allowed.initialWindow + (allowed.windows.get(seen.id) ?? 0);
    if (stream.dataBytes > window) throw new Error(`more DATA than the window: ${nameOf(seen)}`);
  }
  if (dataBytes > FIRST_WINDOW + (allowed.windows.get(0) ?? 0)) {
    throw new Error('more DATA than the connection window');
  }
}

const nameOf = ({ type, id }: SeenFrame) => `type ${String(type)} on ${String(id)}`;

/** The last stream id never rises, and nothing follows the GOAWAY of an error. */
function checkGoAways(frames: readonly SeenFrame[]): void {
  let lastId = Infinity;
  let isGone = false;
  for (const seen of frames) {
    if (isGone) throw new Error(`${nameOf(seen)} follows the last GOAWAY`);
    if (seen.type !== Type.goAway) continue;
    const id = seen.payload.readUInt32BE(0);
    if (id > lastId) throw new Error('a GOAWAY takes back a last stream id');
    lastId = id;
    isGone = seen.payload.readUInt32BE(4) !== NO_ERROR;
  }
}

/** What a frame of ours does to its stream. */
function step(stream: StreamSoFar, seen: SeenFrame): void {
  const { type, flags } = seen;
  if (type === Type.windowUpdate) return;
  if (type === Type.rst) {
    stepReset(stream, seen);
    return;
  }
  if (type === Type.headers && stream.phase === 'silent') stream.phase = 'answering';
  else if (stream.phase !== 'answering') throw new Error(`${nameOf(seen)}, ${stream.phase}`);
  if (type !== Type.continuation && (flags & 1) !== 0) stream.phase = 'ended';
}

function stepReset(stream: StreamSoFar, seen: SeenFrame): void {
  const code = seen.payload.readUInt32BE(0);
  const isLate = stream.phase === 'ended' || stream.phase === 'reset';
  if (isLate && !LATE_CODES.includes(code)) {
    throw new Error(`reset ${String(code)}: ${nameOf(seen)}, ${stream.phase}`);
  }
  stream.phase = 'reset';
}

/** Never more answers than questions. */
function checkAnswers(frames: readonly SeenFrame[], allowed: Allowed): void {
  const acks = (type: number) =>
    frames.filter((seen) => seen.type === type && (seen.flags & ACK) !== 0).length;
  if (acks(Type.ping) > allowed.pings) throw new Error('more PING ACKs than PINGs');
  if (acks(Type.settings) > allowed.settings) throw new Error('more SETTINGS ACKs than SETTINGS');
}
