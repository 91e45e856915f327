/**
 * What is to be written. Pieces are handed over without a copy: the next ones go behind them in the same memory,
 * until it is full or given back.
 */
export interface Output {
  bytes: Uint8Array;
  /** `bytes[start, end)` has not been taken yet. */
  start: number;
  end: number;
  /** Pieces of `bytes` that somebody may still read. */
  lent: number;
  /** Whether a piece was taken since the last `relaxOutput`. */
  busy: boolean;
}

const NO_MEMORY = new Uint8Array(0);
const SMALLEST = 1024;
/** Memory grows by doubling up to here; beyond, only as far as one turn's output needs. */
const LARGEST_KEPT = 65_536;

export function createOutput(): Output {
  return { bytes: NO_MEMORY, start: 0, end: 0, lent: 0, busy: false };
}

/** Makes `size` octets the caller's to write, and returns where they begin in `output.bytes`. */
export function reserve(output: Output, size: number): number {
  if (output.bytes.length - output.end < size) makeRoom(output, size);
  const at = output.end;
  output.end = at + size;
  return at;
}

function makeRoom(output: Output, size: number): void {
  const pending = output.end - output.start;
  const needed = pending + size;
  const old = output.bytes;
  if (output.lent > 0 || needed > old.length) {
    output.bytes = Buffer.allocUnsafeSlow(roomFor(needed, old.length * 2));
    output.lent = 0;
  }
  output.bytes.set(old.subarray(output.start, output.end), 0);
  output.start = 0;
  output.end = pending;
}

function roomFor(needed: number, wanted: number): number {
  let room = Math.min(LARGEST_KEPT, Math.max(SMALLEST, wanted));
  while (room < needed) room *= 2;
  return room;
}

export function takePiece(output: Output): Uint8Array | undefined {
  if (output.start === output.end) return undefined;
  const piece = output.bytes.subarray(output.start, output.end);
  output.start = output.end;
  output.lent++;
  output.busy = true;
  return piece;
}

/** Nobody reads `piece` any more. Once all are back, the memory is used from its beginning again. */
export function releasePiece(output: Output, piece: Uint8Array): void {
  if (piece.buffer !== output.bytes.buffer || output.lent === 0) return;
  output.lent--;
  if (output.lent === 0 && output.start === output.end) {
    output.start = 0;
    output.end = 0;
    if (output.bytes.length > LARGEST_KEPT) output.bytes = NO_MEMORY;
  }
}

/** Lets the memory go of a connection that wrote nothing since the last time. */
export function relaxOutput(output: Output): void {
  if (!output.busy && output.start === output.end) {
    output.bytes = NO_MEMORY;
    output.start = 0;
    output.end = 0;
    output.lent = 0;
  }
  output.busy = false;
}
