import fc from 'fast-check';
import { MAX_QUEUED_BYTES, MAX_STREAMS_BEFORE_ACK } from '../../src/wire/http2/budgets';
import {
  field,
  frame,
  hello,
  parseFrames,
  POST_ROOT,
  settings,
  settingsAck,
  Type,
  uint32,
} from '../support/h2-frames';
import { createH2Session, type H2Session, COPY } from '../support/h2-session';

/** Each property may take so long in the ordinary run; a longer one is a matter of the environment. */
const TIME_LIMIT_MS = Number(process.env['FUZZ_MS'] ?? 1500);
const RUNS = { numRuns: 1_000_000, interruptAfterTimeLimit: TIME_LIMIT_MS };

const streamId = fc.oneof(
  { weight: 8, arbitrary: fc.nat(12).map((n) => 2 * n + 1) },
  { weight: 1, arbitrary: fc.nat(20) },
  { weight: 1, arbitrary: fc.nat(0x7fffffff) },
);
const flags = fc.oneof(fc.constantFrom(0, 1, 4, 5, 9, 0x0d, 0x25, 0x2d), fc.nat(255));
const someBytes = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes));
const block = fc
  .array(
    fc.oneof(
      { weight: 5, arbitrary: fc.constant(POST_ROOT) },
      { weight: 2, arbitrary: fc.constantFrom(field('x', 'y', 0x40), field('te', 'trailers')) },
      { weight: 1, arbitrary: fc.constantFrom(field('content-length', '3'), Buffer.from([0xbe])) },
      { weight: 1, arbitrary: someBytes },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => Buffer.concat(parts));

const headersFrame = fc
  .tuple(fc.constantFrom(Type.headers, Type.headers, Type.continuation), flags, streamId, block)
  .map((parts) => frame(...parts));
const numberFrame = fc
  .tuple(
    fc.constantFrom(Type.windowUpdate, Type.rst),
    streamId,
    fc.constantFrom(0, 1, 5, 70_000, 0x7fffffff),
  )
  .map(([type, id, number]) => frame(type, 0, id, uint32(number)));
const dataFrame = fc
  .tuple(flags, streamId, someBytes)
  .map(([flag, id, body]) => frame(Type.data, flag, id, body));
const settingsFrame = fc
  .array(fc.tuple(fc.nat(9), fc.constantFrom(0, 1, 2, 100, 65_535, 16_384, 0x7fffffff)), {
    maxLength: 3,
  })
  .map((pairs) => settings(...pairs));
const anyFrame = fc.tuple(fc.nat(12), flags, streamId, someBytes).map((parts) => frame(...parts));

const piece = fc.oneof(
  { weight: 6, arbitrary: headersFrame },
  { weight: 4, arbitrary: dataFrame },
  { weight: 3, arbitrary: numberFrame },
  { weight: 1, arbitrary: settingsFrame },
  { weight: 1, arbitrary: fc.constant(settingsAck()) },
  { weight: 2, arbitrary: anyFrame },
  { weight: 1, arbitrary: someBytes },
);

/** A session that begins well, and then octets of it that were changed. */
const session = fc
  .tuple(
    fc.constantFrom(hello(), hello([4, 7]), Buffer.alloc(0)),
    fc.array(piece, { maxLength: 40 }),
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 2 }),
  )
  .map(([start, pieces, changes]) => {
    const bytes = Buffer.concat([start, ...pieces]);
    for (const [at, octet] of changes) if (bytes.length > 0) bytes[at % bytes.length] = octet;
    return bytes;
  });

const HEADERS = Buffer.from([0x88]);

/** An owner that answers some at once, some by halves, some never, and some by a reset. */
function startSession(): H2Session {
  return createH2Session({
    maxConcurrentStreams: 5,
    streamWindowBytes: 200,
    onComplete: ({ connection }, stream) => {
      const manner = (stream.id >> 1) % 5;
      if (manner === 1) connection.sendHeaders(stream, HEADERS, true);
      if (manner === 2)
        connection.sendUnary(
          stream,
          { headers: HEADERS, trailers: HEADERS },
          Buffer.alloc(30, 'x'),
          COPY,
        );
      if (manner === 3) {
        connection.sendHeaders(stream, HEADERS, false);
        connection.sendData(stream, Buffer.alloc(20), false);
        connection.sendData(stream, Buffer.alloc(20), true);
      }
      if (manner === 4) connection.reset(stream, 8);
    },
  });
}

function cut(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = cuts.map((n) => n % (bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

function output(fuzzed: H2Session): Buffer {
  return Buffer.from(fuzzed.connection.takeOutput() ?? []);
}

describe('any octets', () => {
  it('mean the same however they are cut', () => {
    fc.assert(
      fc.property(session, fc.array(fc.nat(), { maxLength: 20 }), (bytes, cuts) => {
        const whole = startSession();
        whole.send(bytes);
        const pieces = startSession();
        for (const part of cut(bytes, cuts)) pieces.send(part);
        const single = startSession();
        for (const octet of bytes) single.send(Buffer.from([octet]));
        const expected = output(whole).toString('hex');
        for (const other of [pieces, single]) {
          expect(other.events).toEqual(whole.events);
          expect(output(other).toString('hex')).toBe(expected);
          expect(other.connection.failure).toEqual(whole.connection.failure);
        }
      }),
      RUNS,
    );
  });

  it('never make it throw, answer twice or grow', () => {
    fc.assert(
      fc.property(fc.array(session, { maxLength: 5 }), fc.boolean(), (parts, tick) => {
        const fuzzed = startSession();
        const written: Buffer[] = [];
        for (const part of [hello(), ...parts]) {
          fuzzed.send(part);
          fuzzed.nowMs += 7;
          if (tick) fuzzed.connection.tick(fuzzed.nowMs);
          written.push(output(fuzzed));
          expect(fuzzed.connection.queuedResponseBytes).toBeLessThanOrEqual(MAX_QUEUED_BYTES);
          expect(fuzzed.connection.openStreams).toBeLessThanOrEqual(MAX_STREAMS_BEFORE_ACK);
        }
        expect(fuzzed.connection.failure?.cause).toBeUndefined();
        fuzzed.connection.connectionLost();
        written.push(output(fuzzed));
        expectOrderly(Buffer.concat(written));
        expectEachEndOnce(fuzzed.events);
      }),
      RUNS,
    );
  });
});

/** What we write is whole frames; nothing follows the end of a stream but RST_STREAM(NO_ERROR), or a GOAWAY. */
function expectOrderly(bytes: Buffer): void {
  const ended = new Set<number>();
  let gone = false;
  for (const { type, flags: seen, id, payload } of parseFrames(bytes)) {
    expect(gone).toBe(false);
    if (type === Type.goAway) gone = true;
    if (type !== Type.headers && type !== Type.data && type !== Type.rst) continue;
    if (type !== Type.rst) {
      expect(ended.has(id)).toBe(false);
      if ((seen & 1) !== 0) ended.add(id);
    } else {
      expect(ended.has(id) && payload.readUInt32BE(0) !== 0 && payload.readUInt32BE(0) !== 5).toBe(
        false,
      );
      ended.add(id);
    }
  }
}

/** The owner hears of one request and at most one end of it per stream. */
function expectEachEndOnce(events: readonly string[]): void {
  for (const kind of ['request', 'trailers', 'reset']) {
    const ids = events.filter((seen) => seen.startsWith(kind)).map((seen) => seen.split(' ')[0]);
    expect(new Set(ids).size).toBe(ids.length);
  }
}
