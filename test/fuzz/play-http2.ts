import { COPY } from '../support/h2-session';
import type { Http2Connection, Http2Options, Http2Stream } from '../../src/wire/http2/api';
import { MAX_QUEUED_BYTES, MAX_STREAMS_BEFORE_ACK } from '../../src/wire/http2/budgets';
import { createHttp2Connection } from '../../src/wire/http2/connection';
import { encodeStatelessBlock } from '../../src/wire/http2/hpack/encoder';
import type { Random } from './random';

/** Something that the owner does when so many octets have come, however they were cut. */
export interface Action {
  readonly at: number;
  readonly what: (typeof ACTIONS)[number];
  readonly number: number;
}

const ACTIONS = [
  'take',
  'take and release',
  'answer one',
  'answer all',
  'reset one',
  'wait',
  'wait long',
  'ping',
  'start drain',
  'finish drain',
  'leave',
  'lose',
] as const;
/** How often each is chosen. */
const WEIGHTS = [8, 4, 8, 4, 2, 4, 1, 1, 1, 1, 1, 1];
const WEIGHTED = ACTIONS.flatMap((what, index) =>
  new Array<typeof what>(WEIGHTS[index] ?? 1).fill(what),
);

export function planActions(random: Random, length: number): Action[] {
  const actions = Array.from({ length: random.below(9) }, () => ({
    at: random.below(length + 1),
    what: random.pick(WEIGHTED),
    number: random.below(100_000),
  }));
  return actions.sort((one, other) => one.at - other.at);
}

export interface Transcript {
  /** What the owner was told, a line each. */
  readonly told: string;
  readonly output: Buffer;
  readonly connection: Http2Connection;
}

const HEADERS = encodeStatelessBlock([[':status', '200']]);
const TRAILERS = encodeStatelessBlock([['grpc-status', '0']]);
const BODY = Buffer.alloc(100_000, 'b');
/** What no peer may ever see. */
export const SECOND_ANSWER = Buffer.from('second answer');
/** A reply is 17 octets at most; the last GOAWAY has a reason. */
const REPLY_BYTES = 17;
/** One in so many streams is answered before its request is complete. */
const EARLY = 5;

type Stream = Http2Stream;

/** Where a stream is for its owner; what must not come then is a finding. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  open: ['data', 'end', 'reset'],
  ended: ['reset'],
};

/** Plays octets into a connection whose owner answers some at once, some later, some never. */
export function playHttp2(
  bytes: Buffer,
  cuts: readonly number[],
  actions: readonly Action[],
  options: Partial<Http2Options>,
): Transcript {
  const told: string[] = [];
  const written: Buffer[] = [];
  const states = new Map<Stream, string>();
  const waiting: Stream[] = [];
  let nowMs = 1_000;
  let handedOver = 0;
  let highestId = 0;

  const hear = (stream: Stream, what: string) => {
    const state = states.get(stream) ?? 'unknown';
    if (ALLOWED[state]?.includes(what) !== true) {
      throw new Error(`stream ${String(stream.id)} is ${state}, and the owner hears of ${what}`);
    }
    if (what === 'reset') states.delete(stream);
    else if (what === 'end') states.set(stream, 'ended');
  };
  const answer = (stream: Stream, size: number) => {
    handedOver += size + 200;
    connection.sendUnary(
      stream,
      { headers: HEADERS, trailers: TRAILERS },
      BODY.subarray(0, size),
      COPY,
    );
    settle(stream);
  };
  /** From here on only `reset` may come, and not even that once the stream is closed. */
  const settle = (stream: Stream) => {
    // A second answer must go nowhere, also while the first one waits for a window.
    connection.sendData(stream, SECOND_ANSWER, false);
    connection.sendHeaders(stream, TRAILERS, true);
    if (stream.closed) states.delete(stream);
    else states.set(stream, 'ended');
  };
  const MANNERS: readonly ((stream: Stream) => void)[] = [
    (stream) => waiting.push(stream),
    (stream) => {
      answer(stream, 30);
    },
    (stream) => {
      connection.sendHeaders(stream, HEADERS, true);
      settle(stream);
    },
    (stream) => {
      connection.sendHeaders(stream, HEADERS, false);
      connection.sendData(stream, BODY.subarray(0, 20), false);
      connection.sendData(stream, BODY.subarray(0, 20_000), true);
      handedOver += 21_000;
      settle(stream);
    },
    (stream) => {
      connection.reset(stream, 8);
      states.delete(stream);
    },
    (stream) => {
      answer(stream, 70_000);
    },
    (stream) => waiting.push(stream),
  ];
  const complete = (stream: Stream) => {
    handedOver += 50;
    (MANNERS[(stream.id >> 1) % MANNERS.length] as (stream: Stream) => void)(stream);
  };

  const connection: Http2Connection = createHttp2Connection(
    {
      onRequest(stream, { names, values }, end) {
        if (stream.id <= highestId || stream.id % 2 === 0)
          throw new Error('a stream id is not new');
        highestId = stream.id;
        states.set(stream, 'open');
        told.push(
          `request ${String(stream.id)} ${names.map((n, i) => `${n}=${values[i] ?? ''}`).join('|')}`,
        );
        if (end) {
          hear(stream, 'end');
          complete(stream);
        } else if ((stream.id >> 1) % EARLY === 2) answer(stream, 70_000);
      },
      onData(stream, octets, start, end, last) {
        hear(stream, 'data');
        const text = Buffer.from(octets.subarray(start, end)).toString('latin1');
        told.push(`data ${String(stream.id)} ${text}${last ? ' end' : ''}`);
        if (last) {
          hear(stream, 'end');
          complete(stream);
        }
      },
      onTrailers(stream, { names }) {
        hear(stream, 'end');
        told.push(`trailers ${String(stream.id)} ${names.join('|')}`);
        complete(stream);
      },
      onReset(stream, code) {
        hear(stream, 'reset');
        told.push(`reset ${String(stream.id)} ${String(code)}`);
      },
      onPingAck(opaque) {
        told.push(`ping ack ${String(opaque)}`);
      },
    },
    options,
  );

  const take = (release: boolean) => {
    const most = 4_200 * REPLY_BYTES + 1_000 + handedOver;
    if (connection.pendingOutputBytes > most) throw new Error('the output grows beyond its budget');
    const piece = connection.takeOutput();
    if (piece === undefined) return;
    written.push(Buffer.from(piece));
    if (release) {
      piece.fill(0xdd);
      connection.releaseOutput(piece);
    }
  };
  const pass = (ms: number) => {
    nowMs += ms;
    connection.tick(nowMs);
  };
  const answerNext = (size: number) => {
    const stream = waiting.shift();
    if (stream !== undefined) answer(stream, size);
  };
  const resetLast = () => {
    const stream = waiting.pop();
    if (stream === undefined) return;
    connection.reset(stream, 8);
    states.delete(stream);
  };
  const acts: Readonly<Record<Action['what'], (number: number) => void>> = {
    take: () => {
      take(false);
    },
    'take and release': () => {
      take(true);
    },
    'answer one': answerNext,
    'answer all': (number) => {
      while (waiting.length > 0) answerNext(number % 300);
    },
    'reset one': resetLast,
    wait: (number) => {
      pass(number % 2_000);
    },
    'wait long': () => {
      pass(31_000);
    },
    ping: (number) => {
      connection.ping(number);
    },
    'start drain': () => {
      connection.startDrain('the test drains');
    },
    'finish drain': () => {
      connection.finishDrain();
    },
    leave: () => {
      connection.goAway(0, 'the test leaves');
    },
    lose: () => {
      connection.connectionLost();
    },
  };

  const receive = (from: number, until: number) => {
    const piece = Buffer.from(bytes.subarray(from, until));
    connection.receive(piece, nowMs);
    piece.fill(0xaa);
    if (
      connection.queuedResponseBytes > MAX_QUEUED_BYTES ||
      connection.openStreams > MAX_STREAMS_BEFORE_ACK
    ) {
      throw new Error('queued answers or open streams grow beyond their budget');
    }
  };
  let done = 0;
  for (const { at, action } of stops(bytes.length, cuts, actions)) {
    if (at > done) receive(done, at);
    done = at;
    if (action !== undefined) acts[action.what](action.number);
  }
  take(false);
  const { failure } = connection;
  if (failure?.cause !== undefined) throw failure.cause as Error;
  connection.connectionLost();
  take(false);
  if (connection.openStreams > 0 || connection.queuedResponseBytes > 0) {
    throw new Error('a lost connection holds on to streams');
  }
  return { told: told.join('\n'), output: Buffer.concat(written), connection };
}

interface Stop<A> {
  readonly at: number;
  readonly action?: A;
}

/** Where to stop: at each cut, at each action (in their order), and at the end. */
export function stops<A extends { readonly at: number }>(
  length: number,
  cuts: readonly number[],
  actions: readonly A[],
): Stop<A>[] {
  const all: Stop<A>[] = [
    ...cuts.map((at) => ({ at })),
    ...actions.map((action) => ({ at: action.at, action })),
    { at: length },
  ];
  return all.sort((one, other) => one.at - other.at);
}
