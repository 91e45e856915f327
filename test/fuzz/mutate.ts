import { frame, POST_ROOT, Type, uint32 } from '../support/h2-frames';
import type { Random } from './random';
import { pickSession, type Corpus } from './sessions';

/** No session grows beyond this, however often its frames are repeated. */
export const LARGEST_INPUT = 65_536;
const HEADER_BYTES = 9;
const TELLING = [0, 1, 2, 0x7f, 0x80, 0xff];
const TELLING_SIZES = [0, 1, 16_384, 16_385, 65_535, 65_536, 0x7fffffff, 0x80000000, 0xffffffff];
const FLAGS = [0, 1, 4, 5, 8, 9, 0x0d, 0x20, 0x24, 0x25, 0x2c, 0x2d, 0xff];

type Mutation = (frames: Buffer[], random: Random, corpus: Corpus) => void;

/** A place among the frames; the preface at the front is spared most of the time. */
function place(frames: readonly Buffer[], random: Random): number {
  if (frames.length < 2 || random.oneIn(50)) return random.below(frames.length);
  return 1 + random.below(frames.length - 1);
}

/** A copy of one frame that may be changed, and goes back to its place. */
function change(frames: Buffer[], random: Random, how: (copy: Buffer) => Buffer): void {
  const at = place(frames, random);
  frames[at] = how(Buffer.from(frames[at] ?? []));
}

function someStream(random: Random): number {
  if (random.oneIn(8)) return random.pick([0, 2, 0x7fffffff, 0x80000001, 0xffffffff]);
  return 2 * random.below(16) + 1;
}

/** A frame of any type, well formed as often as not. */
export function randomFrame(random: Random): Buffer {
  const type = random.below(11);
  const id = type === Type.settings || type === Type.ping ? 0 : someStream(random);
  const flags = random.oneIn(4) ? random.below(256) : random.pick(FLAGS);
  return frame(
    type,
    flags,
    id,
    random.oneIn(3) ? random.bytes(random.below(40)) : fitting(type, random),
  );
}

function fitting(type: number, random: Random): Buffer {
  const number = random.pick(TELLING_SIZES);
  if (type === Type.headers || type === Type.continuation) return POST_ROOT;
  if (type === Type.settings) {
    return Buffer.concat([Buffer.from([0, random.below(10)]), uint32(number)]);
  }
  if (type === Type.windowUpdate || type === Type.rst) return uint32(number);
  if (type === Type.ping) return random.bytes(8);
  if (type === Type.priority) return Buffer.concat([uint32(someStream(random)), Buffer.from([1])]);
  if (type === Type.goAway) return uint32(someStream(random), random.below(14));
  return random.bytes(random.below(30));
}

const isHeaders = (piece: Buffer) => piece[3] === Type.headers || piece[3] === Type.continuation;

/** Gives a payload to a frame, with its length. */
function withPayload(piece: Buffer, payload: Buffer): Buffer {
  const whole = Buffer.concat([piece.subarray(0, HEADER_BYTES), payload]);
  whole.writeUIntBE(payload.length, 0, 3);
  return whole;
}

/** Frames of another session behind a preface of ours, on streams that come later. */
function continued(frames: readonly Buffer[], more: readonly Buffer[]): Buffer[] {
  const ids = frames.slice(1).map((piece) => idOf(piece));
  const shift = Math.max(0, ...ids.map((id) => (id + 1) & ~1));
  return more.slice(1).map((piece) => {
    const copy = Buffer.from(piece);
    const id = idOf(copy);
    if (id !== 0 && id + shift < 0x7fffffff) copy.writeUInt32BE(id + shift, 5);
    return copy;
  });
}

const idOf = (piece: Buffer) =>
  piece.length < HEADER_BYTES ? 0 : piece.readUInt32BE(5) & 0x7fffffff;

const MUTATIONS: readonly Mutation[] = [
  function flipBit(frames, random) {
    change(frames, random, (copy) => {
      const at = random.below(copy.length);
      copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
      return copy;
    });
  },
  function setOctet(frames, random) {
    change(frames, random, (copy) => {
      copy[random.below(copy.length)] = random.oneIn(2) ? random.pick(TELLING) : random.below(256);
      return copy;
    });
  },
  function setType(frames, random) {
    change(frames, random, (copy) => setAt(copy, 3, random.below(12)));
  },
  function setFlags(frames, random) {
    change(frames, random, (copy) => setAt(copy, 4, random.pick(FLAGS)));
  },
  function setStream(frames, random) {
    change(frames, random, (copy) => {
      if (copy.length >= HEADER_BYTES) copy.writeUInt32BE(someStream(random), 5);
      return copy;
    });
  },
  function setLength(frames, random) {
    change(frames, random, (copy) => {
      const wrong = random.oneIn(3) ? random.below(0x1000000) : copy.length + random.below(9) - 13;
      if (copy.length >= HEADER_BYTES) copy.writeUIntBE(wrong & 0xffffff, 0, 3);
      return copy;
    });
  },
  function resize(frames, random) {
    change(frames, random, (copy) => {
      if (copy.length < HEADER_BYTES) return copy;
      const kept = copy.subarray(HEADER_BYTES, HEADER_BYTES + random.below(copy.length));
      return withPayload(copy, Buffer.concat([kept, random.bytes(random.below(10))]));
    });
  },
  function setNumber(frames, random) {
    change(frames, random, (copy) => {
      if (copy.length < HEADER_BYTES + 4) return copy;
      copy.writeUInt32BE(random.pick(TELLING_SIZES), HEADER_BYTES + random.below(copy.length - 12));
      return copy;
    });
  },
  function duplicate(frames, random) {
    const at = place(frames, random);
    frames.splice(at, 0, frames[at] ?? Buffer.alloc(0));
  },
  function drop(frames, random) {
    if (frames.length > 2) frames.splice(place(frames, random), 1);
  },
  function swap(frames, random) {
    const [one, other] = [place(frames, random), place(frames, random)];
    const kept = frames[one] ?? Buffer.alloc(0);
    frames[one] = frames[other] ?? kept;
    frames[other] = kept;
  },
  function insert(frames, random) {
    frames.splice(place(frames, random) + 1, 0, randomFrame(random));
  },
  function repeat(frames, random) {
    const at = place(frames, random);
    const piece = frames[at] ?? Buffer.alloc(0);
    const most = Math.floor(LARGEST_INPUT / 2 / Math.max(piece.length, 1));
    const times = Math.min(most, random.oneIn(8) ? 5_000 : random.below(70));
    frames.splice(at, 0, ...new Array<Buffer>(times).fill(piece));
  },
  function reopen(frames, random) {
    // The same request again and again, on a stream of its own each time.
    const at = place(frames, random);
    const piece = frames[at] ?? Buffer.alloc(0);
    if (piece.length < HEADER_BYTES) return;
    const copies = Array.from({ length: random.below(300) }, (_, index) => {
      const copy = Buffer.from(piece);
      copy.writeUInt32BE(idOf(piece) + 2 * index + 2, 5);
      return copy;
    });
    frames.splice(at + 1, 0, ...copies);
  },
  function splice(frames, random, corpus) {
    const other = pickSession(random, corpus);
    const from = random.below(other.length);
    frames.push(...continued(frames, [other[0] ?? Buffer.alloc(0), ...other.slice(from)]));
  },
  function interleave(frames, random, corpus) {
    const other = continued(frames, pickSession(random, corpus));
    for (const piece of other) frames.splice(place(frames, random) + 1, 0, piece);
  },
  function mangleBlock(frames, random) {
    const places = frames.flatMap((piece, at) => (isHeaders(piece) ? [at] : []));
    if (places.length === 0) return;
    const at = random.pick(places);
    const piece = frames[at] ?? Buffer.alloc(0);
    frames[at] = withPayload(piece, mutateOctets(piece.subarray(HEADER_BYTES), random));
  },
  function splitBlock(frames, random) {
    const at = place(frames, random);
    const piece = frames[at] ?? Buffer.alloc(0);
    if (!isHeaders(piece) || piece.length < HEADER_BYTES + 2) return;
    const middle = HEADER_BYTES + 1 + random.below(piece.length - HEADER_BYTES - 1);
    const first = setAt(
      withPayload(piece, piece.subarray(HEADER_BYTES, middle)),
      4,
      (piece[4] ?? 0) & ~4,
    );
    frames.splice(at, 1, first, frame(Type.continuation, 4, idOf(piece), piece.subarray(middle)));
  },
  function splitBody(frames, random) {
    const at = place(frames, random);
    const piece = frames[at] ?? Buffer.alloc(0);
    if (piece[3] !== Type.data || piece.length < HEADER_BYTES + 2) return;
    const middle = HEADER_BYTES + 1 + random.below(piece.length - HEADER_BYTES - 1);
    const first = setAt(withPayload(piece, piece.subarray(HEADER_BYTES, middle)), 4, 0);
    frames.splice(at, 1, first, withPayload(piece, piece.subarray(middle)));
  },
  function cutOff(frames, random) {
    frames.length = 1 + random.below(frames.length);
  },
];

function setAt(copy: Buffer, at: number, octet: number): Buffer {
  if (at < copy.length) copy[at] = octet;
  return copy;
}

/** Octets that are no frames: some changed, taken out, put in or doubled. */
export function mutateOctets(bytes: Uint8Array, random: Random): Buffer {
  let octets: Buffer = Buffer.from(bytes);
  for (let times = random.below(4) + 1; times > 0; times--) {
    const at = random.below(octets.length + 1);
    const until = at + random.below(8);
    const how = random.below(5);
    if (how === 0 && octets.length > 0) {
      octets[at % octets.length] = (octets[at % octets.length] ?? 0) ^ (1 << random.below(8));
    } else if (how === 1 && octets.length > 0) octets[at % octets.length] = random.pick(TELLING);
    else if (how === 2) octets = Buffer.concat([octets.subarray(0, at), octets.subarray(until)]);
    else if (how === 3) octets = insertAt(octets, at, random.bytes(random.below(8)));
    else octets = insertAt(octets, at, octets.subarray(at, until));
  }
  return octets;
}

function insertAt(octets: Buffer, at: number, more: Uint8Array): Buffer {
  return Buffer.concat([octets.subarray(0, at), more, octets.subarray(at)]);
}

/** A captured session after some mutations of its frames, and now and then of its octets. */
export function mutateSession(random: Random, corpus: Corpus): Buffer {
  if (random.oneIn(200)) return random.bytes(random.below(400));
  const frames = [...pickSession(random, corpus)];
  for (let times = random.below(7); times > 0; times--) {
    random.pick(MUTATIONS)(frames, random, corpus);
  }
  const whole = Buffer.concat(frames).subarray(0, LARGEST_INPUT);
  return random.oneIn(20) ? mutateOctets(whole, random) : whole;
}
