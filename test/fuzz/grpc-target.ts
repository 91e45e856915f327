import { gzipSync } from 'node:zlib';
import { createHpackDecoder, decodeBlock } from '../../src/wire/http2/hpack/decoder';
import { encodeStatelessBlock } from '../../src/wire/http2/hpack/encoder';
import { frame, hello, parseFrames, settingsAck, Type } from '../support/h2-frames';
import { checkOutput } from './check-output';
import { mutateOctets, mutateSession } from './mutate';
import { planCalls, playGrpc, type GrpcTranscript } from './play-grpc';
import type { Random } from './random';
import { splitFrames, type Corpus } from './sessions';
import { everyCut, expectSame, someCuts, type Target } from './target';

const SHOULD_RATE_LIMIT = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit';
const GZIP_MAGIC = Buffer.from([0x1f, 0x8b]);
const PATHS = [
  SHOULD_RATE_LIMIT,
  SHOULD_RATE_LIMIT,
  '/grpc.health.v1.Health/Watch',
  '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
  '/no.Service/Method',
];
const FIELDS: readonly (readonly [string, string])[] = [
  ['grpc-timeout', '20m'],
  ['grpc-timeout', '0m'],
  ['grpc-timeout', 'soon'],
  ['grpc-encoding', 'gzip'],
  ['grpc-encoding', 'identity'],
  ['grpc-encoding', 'br'],
  ['te', 'trailers'],
  ['content-length', '25'],
];

/** Calls with our codec behind them, ended by their owner at any time. */
export function createGrpcTarget(corpus: Corpus): Target {
  return {
    name: 'grpc',
    make: (random) => (random.oneIn(2) ? mutateSession(random, corpus) : callsOf(random)),
    check(input, random) {
      const actions = planCalls(random, input.length);
      const whole = playGrpc(input, [], actions);
      checkOutput(input, whole.output);
      checkStatuses(whole.output);
      checkOrigins(input, whole.messages);
      const same = (what: string, other: GrpcTranscript) => {
        expectSame(`${what}, events`, other.told, whole.told);
        expectSame(`${what}, output`, other.output.toString('hex'), whole.output.toString('hex'));
        expectSame(`${what}, end`, other.failure, whole.failure);
      };
      same('cut', playGrpc(input, someCuts(random, input.length), actions));
      const step = input.length > 3_000 ? 97 : 1;
      same('in small pieces', playGrpc(input, everyCut(input.length, step), actions));
    },
  };
}

/** A few calls whose bodies are cut into frames of any size, some octets of them changed. */
function callsOf(random: Random): Buffer {
  const pieces: Buffer[] = [hello(), settingsAck()];
  const calls = 1 + random.below(6);
  for (let index = 0; index < calls; index++) {
    const id = 2 * index + 1;
    const frames = callOn(random, id);
    const at = random.oneIn(2) ? pieces.length : 2 + random.below(pieces.length - 1);
    pieces.splice(at < lastHeaders(pieces) ? pieces.length : at, 0, ...frames);
  }
  const whole = Buffer.concat(pieces);
  return random.oneIn(3) ? mutateOctets(whole, random) : whole;
}

/** Stream ids must rise: new HEADERS never go before those that are there. */
function lastHeaders(pieces: readonly Buffer[]): number {
  return pieces.reduce((last, piece, at) => (piece[3] === Type.headers ? at + 1 : last), 0);
}

function callOn(random: Random, id: number): Buffer[] {
  const fields = random.oneIn(2) ? [random.pick(FIELDS)] : [];
  const block = encodeStatelessBlock([
    [':method', random.oneIn(20) ? 'GET' : 'POST'],
    [':scheme', 'http'],
    [':path', random.pick(PATHS)],
    ['content-type', random.oneIn(12) ? 'text/html' : 'application/grpc'],
    ...fields,
  ]);
  const body = Buffer.concat(Array.from({ length: random.below(4) }, () => messageOf(random)));
  const size = 1 + random.below(70);
  const frames = [frame(Type.headers, 4, id, block)];
  for (let at = 0; at < body.length; at += size) {
    frames.push(frame(Type.data, 0, id, body.subarray(at, at + size)));
  }
  const last = random.pick([
    [frame(Type.data, 1, id)],
    [frame(Type.headers, 5, id, encodeStatelessBlock([['x', 'y']]))],
    [frame(Type.rst, 0, id, Buffer.from([0, 0, 0, 2]))],
    [],
  ]);
  if (random.oneIn(2) && frames.length > 1) {
    const piece = frames[frames.length - 1] ?? Buffer.alloc(9);
    piece[4] = 1;
    return frames;
  }
  return [...frames, ...last];
}

function messageOf(random: Random): Buffer {
  const content = random.oneIn(2)
    ? Buffer.from('0a076578616d706c6512120a100a046b6579731208', 'hex')
    : random.bytes(random.below(60));
  const isPacked = random.oneIn(4);
  const octets = isPacked ? gzipSync(content) : content;
  const prefix = Buffer.alloc(5);
  prefix[0] = random.oneIn(20) ? random.below(256) : Number(isPacked);
  prefix.writeUInt32BE(random.oneIn(20) ? random.below(0x1_0000_0000) : octets.length, 1);
  return Buffer.concat([prefix, octets]);
}

/** A plain message that the owner is told of lies in the DATA of one stream, in one piece. */
function checkOrigins(input: Buffer, messages: readonly Buffer[]): void {
  const bodies = new Map<number, Buffer[]>();
  for (const piece of splitFrames(input)) {
    if (piece.length < 9 || piece[3] !== Type.data) continue;
    const id = piece.readUInt32BE(5) & 0x7fffffff;
    bodies.set(id, [...(bodies.get(id) ?? []), contentOf(piece)]);
  }
  const whole = [...bodies.values()].map((pieces) => Buffer.concat(pieces));
  if (whole.some((body) => body.includes(GZIP_MAGIC))) return;
  for (const message of messages) {
    if (!whole.some((body) => body.includes(message))) {
      throw new Error(`nobody sent the message ${message.toString('hex')}`);
    }
  }
}

/** The payload of a DATA frame without its padding. */
function contentOf(piece: Buffer): Buffer {
  if (((piece[4] ?? 0) & 8) === 0) return piece.subarray(9);
  return piece.subarray(10, Math.max(10, piece.length - (piece[9] ?? 0)));
}

/** Every stream that ends says its status exactly once, and its DATA is whole messages. */
function checkStatuses(output: Buffer): void {
  const decoder = createHpackDecoder(65_536, false);
  const answers = new Map<number, { statuses: number; body: Buffer[] }>();
  for (const { type, flags, id, payload } of parseFrames(output)) {
    const answer = answers.get(id) ?? { statuses: 0, body: [] };
    answers.set(id, answer);
    if (type === Type.data) answer.body.push(payload);
    if (type !== Type.headers) continue;
    const list = decodeBlock(decoder, payload, 0, payload.length);
    answer.statuses += list?.names.filter((name) => name === 'grpc-status').length ?? 0;
    const isEnd = (flags & 1) !== 0;
    if (isEnd !== (answer.statuses === 1)) {
      throw new Error(`stream ${String(id)} ends without its status`);
    }
    if (isEnd) checkMessages(Buffer.concat(answer.body));
  }
}

function checkMessages(body: Buffer): void {
  let at = 0;
  while (at < body.length) {
    if (at + 5 > body.length || body[at] !== 0) throw new Error('a message of ours has no prefix');
    at += 5 + body.readUInt32BE(at + 1);
  }
  if (at !== body.length) throw new Error('a message of ours is cut off');
}
