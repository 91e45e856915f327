import { cpus } from 'node:os';
import { READ_NAMES } from '../../src/wire/grpc/call-plan';
import { createHpackDecoder, decodeBlock } from '../../src/wire/http2/hpack/decoder';
import { createHeaderReader } from '../../src/wire/http2/hpack/header-reader';

import { createRequestDecoder } from '../../src/wire/ratelimit/decode-request';
import { writeResponse } from '../../src/wire/ratelimit/encode-response';
import { createHeaderWriter, createVariedValues } from './generator-headers';
import { median } from './measure';
import { rateLimitMessage } from './request';
import { createAnsweringConnection, createSession, RESPONSE } from './wire-load';
import { DEFAULT_BOUNDS } from '../../src/transport/bounds';

const ROUNDS = 15;
const WARM_UP = 4;
const CALLS = 50_000;
const PER_READ = 100;

/** CPU ns (with the collector's threads) per call of what `prepare` gives to run; `prepare` is not counted. */
function print(name: string, prepare: () => () => void): void {
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    const run = prepare();
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    if (round >= WARM_UP) rounds.push(((user + system) * 1_000) / CALLS);
  }
  const figures = [median(rounds), Math.min(...rounds)].map((ns) => ns.toFixed(0).padStart(6));
  console.log(`${name.padEnd(44)} ${figures.join('   least ')} ns`);
}

function times(run: (i: number) => void): () => void {
  return () => {
    for (let i = 0; i < CALLS; i++) run(i);
  };
}

/** The blocks lie in one piece of memory, so that the collector has nothing to do with them. */
function blocks(varied: boolean): () => () => void {
  const write = createHeaderWriter(varied ? createVariedValues() : undefined);
  const decoder = createHpackDecoder(16_384, true, createHeaderReader(READ_NAMES));
  const bytes = new Uint8Array(CALLS * 320);
  const starts = new Int32Array(CALLS + 1);
  return () => {
    for (let i = 0; i < CALLS; i++) starts[i + 1] = write(bytes, starts[i] as number);
    return times((i) => {
      const list = decodeBlock(decoder, bytes, starts[i] as number, starts[i + 1] as number);
      if (list === undefined) throw new Error('bad block');
    });
  };
}

function calls(varied: boolean, keys: number): () => () => void {
  const session = createSession(varied, keys);
  const connection = createAnsweringConnection();
  return () => {
    const reads = Array.from({ length: CALLS / PER_READ }, () => session(PER_READ));
    return () => {
      for (const read of reads) {
        connection.receive(read, 1);
        const piece = connection.http2.takeOutput();
        if (piece === undefined) throw new Error('no answer');
        connection.http2.releaseOutput(piece);
      }
    };
  };
}

function main(): void {
  console.log(
    `${cpus()[0]?.model ?? 'unknown CPU'}, node ${process.version}; CPU per call, median`,
  );
  const messages = Array.from({ length: 10_000 }, (_, i) =>
    rateLimitMessage('user', `user-${String(i)}`),
  );
  const decode = createRequestDecoder(DEFAULT_BOUNDS);
  const out = new Uint8Array(256);
  print('decode a request, 1 key', () =>
    times(() => decode(messages[0] as Uint8Array, 5, (messages[0] as Uint8Array).length)),
  );
  print('decode a request, 10,000 keys', () =>
    times((i) => {
      const message = messages[i % messages.length] as Uint8Array;
      decode(message, 5, message.length);
    }),
  );
  print('encode a response', () => times(() => writeResponse(RESPONSE, out, 0)));
  print('header block, repeated', blocks(false));
  print('header block, traceparent and request id', blocks(true));
  print('whole call, all alike', calls(false, 1));
  print('whole call, varied, 10,000 keys', calls(true, 10_000));
}

main();
