/**
 * Bytes waiting to be written to the socket. Chunks are handed over without a copy: later ones follow in the same memory
 * until it is full or recycled.
 */
export interface Output {
  bytes: Uint8Array;
  /** `bytes[start, end)` has not been taken yet. */
  start: number;
  end: number;
  /** Chunks of `bytes` that the owner has not recycled. */
  outstanding: number;
  /** Whether a chunk was taken since the last `shrink`. */
  busy: boolean;
}

const NO_MEMORY = new Uint8Array(0);
const MIN_CAPACITY = 1024;
/** Memory grows by doubling up to here; beyond, only as far as one turn's output needs. */
const MAX_KEPT_BYTES = 65_536;

export function createOutput(): Output {
  return { bytes: NO_MEMORY, start: 0, end: 0, outstanding: 0, busy: false };
}

/** Reserves `size` bytes for the caller to write and returns where they begin in `output.bytes`. */
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
  if (output.outstanding > 0 || needed > old.length) {
    output.bytes = Buffer.allocUnsafeSlow(roomFor(needed, old.length * 2));
    output.outstanding = 0;
  }
  output.bytes.set(old.subarray(output.start, output.end), 0);
  output.start = 0;
  output.end = pending;
}

function roomFor(needed: number, wanted: number): number {
  let room = Math.min(MAX_KEPT_BYTES, Math.max(MIN_CAPACITY, wanted));
  while (room < needed) room *= 2;
  return room;
}

export function takeChunk(output: Output): Uint8Array | undefined {
  if (output.start === output.end) return undefined;
  const chunk = output.bytes.subarray(output.start, output.end);
  output.start = output.end;
  output.outstanding++;
  output.busy = true;
  return chunk;
}

/** Takes a chunk back. Once all are back, the memory is used from its beginning again. */
export function recycle(output: Output, chunk: Uint8Array): void {
  if (chunk.buffer !== output.bytes.buffer || output.outstanding === 0) return;
  output.outstanding--;
  if (output.outstanding === 0 && output.start === output.end) {
    output.start = 0;
    output.end = 0;
    if (output.bytes.length > MAX_KEPT_BYTES) output.bytes = NO_MEMORY;
  }
}

/** Frees the memory of a connection that wrote nothing since the last call. */
export function shrink(output: Output): void {
  if (!output.busy && output.start === output.end) {
    output.bytes = NO_MEMORY;
    output.start = 0;
    output.end = 0;
    output.outstanding = 0;
  }
  output.busy = false;
}
