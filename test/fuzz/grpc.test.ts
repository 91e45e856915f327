import type { GrpcMethod } from '../../src/wire/grpc/api';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { inflate } from '../../src/transport/grpc/wire/connections';
import { createGrpcConnection } from '../../src/wire/grpc/connection';
import { createRejectionBlocks } from '../../src/wire/grpc/responses';
import { encodeStatelessBlock } from '../../src/wire/http2/hpack/encoder';
import { STREAM, UNARY, frame, message } from '../unit/wire/grpc/grpc-caller';
import { MESSAGE_BOUNDS } from '../support/bounds';

const HELLO = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  frame(4, 0, 0, Buffer.alloc(0)),
  frame(4, 1, 0, Buffer.alloc(0)),
]);

const header = fc.constantFrom<[string, string]>(
  ['grpc-timeout', '20m'],
  ['grpc-timeout', '0m'],
  ['grpc-timeout', 'soon'],
  ['grpc-encoding', 'gzip'],
  ['grpc-encoding', 'identity'],
  ['grpc-encoding', 'br'],
  ['te', 'trailers'],
);

/** What a caller does on one stream, as the payload of its DATA frames. */
const call = fc.record({
  path: fc.constantFrom(UNARY, STREAM, '/no.Service/Method'),
  type: fc.constantFrom('application/grpc', 'application/grpc+proto', 'text/html'),
  headers: fc.uniqueArray(header, { maxLength: 2, selector: ([name]) => name }),
  messages: fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map((bytes) => message(bytes)),
      fc.uint8Array({ maxLength: 60 }).map((bytes) => message(gzipSync(bytes), 1)),
      fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
      fc.constant(Buffer.from([0, 0xff, 0xff, 0xff, 0xff])),
    ),
    { maxLength: 3 },
  ),
  frameSize: fc.integer({ min: 1, max: 70 }),
  end: fc.constantFrom('flag', 'empty frame', 'trailers', 'reset', 'never'),
});
type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

function framesOf(calls: readonly Call[]): Buffer {
  const frames = calls.flatMap((one, index) => {
    const stream = 2 * index + 1;
    const block = encodeStatelessBlock([
      [':method', 'POST'],
      [':scheme', 'http'],
      [':path', one.path],
      ['content-type', one.type],
      ...one.headers,
    ]);
    const body = Buffer.concat(one.messages);
    const pieces = [frame(1, 4, stream, block)];
    for (let at = 0; at < body.length; at += one.frameSize) {
      const isLast = at + one.frameSize >= body.length;
      const flags = isLast && one.end === 'flag' ? 1 : 0;
      pieces.push(frame(0, flags, stream, body.subarray(at, at + one.frameSize)));
    }
    if (one.end === 'trailers')
      pieces.push(frame(1, 5, stream, encodeStatelessBlock([['x', 'y']])));
    if (one.end === 'reset') pieces.push(frame(3, 0, stream, Buffer.from([0, 0, 0, 8])));
    if (one.end === 'empty frame' || (one.end === 'flag' && body.length === 0)) {
      pieces.push(frame(0, 1, stream, Buffer.alloc(0)));
    }
    return pieces;
  });
  return Buffer.concat(frames);
}

/** Everything that the owner is told and that the caller gets, for octets cut at these places. */
function play(octets: Buffer, cuts: readonly number[]) {
  const told: string[] = [];
  const open = new Set<number>();
  const handlers: Omit<GrpcMethod<undefined>, 'requests'> = {
    onMessage(_, callId, bytes, start, end) {
      open.add(callId);
      told.push(`${String(callId)}: ${Buffer.from(bytes.subarray(start, end)).toString('hex')}`);
    },
    onHalfClose(_, callId) {
      open.add(callId);
      told.push(`${String(callId)}: half-close`);
    },
    onCancel(_, callId) {
      expect(open.has(callId)).toBe(true);
      told.push(`${String(callId)}: cancel`);
    },
  };
  const grpc = createGrpcConnection({
    methods: new Map<string, GrpcMethod<undefined>>([
      [UNARY, { requests: 'one', ...handlers }],
      [STREAM, { requests: 'many', ...handlers }],
    ]),
    client: undefined,
    inflate,
    bounds: MESSAGE_BOUNDS,
    rejectionBlock: createRejectionBlocks(),
  });
  const output: Buffer[] = [];
  const read = () => {
    const piece = grpc.http2.takeOutput();
    if (piece !== undefined) output.push(Buffer.from(piece));
  };
  grpc.receive(HELLO, 0);
  const places = [...cuts].map((cut) => cut % (octets.length + 1)).sort((a, b) => a - b);
  [0, ...places].forEach((from, index) => {
    // A copy: nobody may keep a reference to what was received.
    const piece = Buffer.from(octets.subarray(from, places[index] ?? octets.length));
    grpc.receive(piece, 0);
    piece.fill(0xee);
  });
  read();
  grpc.http2.connectionLost();
  for (const callId of open) grpc.finish(callId);
  return {
    told,
    output: Buffer.concat(output).toString('hex'),
    open: grpc.openCalls,
    failure: grpc.http2.failure,
  };
}

const cuts = fc.array(fc.nat(), { maxLength: 12 });

describe('gRPC calls', () => {
  it('mean the same wherever their octets are cut', () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 5 }), cuts, (calls, places) => {
        const octets = framesOf(calls);
        const whole = play(octets, []);
        expect(whole.failure?.cause).toBeUndefined();
        expect(whole.open).toBe(0);
        expect(play(octets, places)).toEqual(whole);
      }),
      { numRuns: 1_500 },
    );
  }, 60_000);

  it('never throw and leave nothing behind, whatever is changed in them', () => {
    const change = fc.tuple(fc.nat(), fc.nat(255));
    fc.assert(
      fc.property(
        fc.array(call, { minLength: 1, maxLength: 4 }),
        fc.array(change, { minLength: 1, maxLength: 6 }),
        cuts,
        (calls, changes, places) => {
          const octets = framesOf(calls);
          for (const [where, octet] of changes) octets[where % octets.length] = octet;
          const played = play(octets, places);
          expect(played.failure?.cause).toBeUndefined();
          expect(played.open).toBe(0);
        },
      ),
      { numRuns: 1_500 },
    );
  }, 60_000);
});
