import { COPY } from '../support/h2-session';
import type { Http2Events, Http2Stream } from '../../src/wire/http2/api';
import {
  MAX_BLOCK_BYTES,
  MAX_BLOCK_FRAMES,
  MAX_QUEUED_BYTES,
  MAX_STREAMS_BEFORE_ACK,
  MAX_WAITING_REPLIES,
  type TokenBucket,
} from '../../src/wire/http2/budgets';
import { DEFAULT_HTTP2_OPTIONS } from '../../src/wire/http2/connection';
import {
  createConnectionState,
  MAX_WINDOW_BYTES,
  type ConnectionState,
} from '../../src/wire/http2/connection-state';
import { MAX_FRAME_BYTES } from '../../src/wire/http2/frames';
import { receiveBytes } from '../../src/wire/http2/receive';
import { sendUnary } from '../../src/wire/http2/send';
import { listStreams } from '../../src/wire/http2/stream-table';
import { mutateSession } from './mutate';
import type { Corpus } from './sessions';
import { someCuts, type Target } from './target';

const BLOCK = Buffer.from([0x88]);
const BODY = Buffer.alloc(80_000);
/** Rings may be as wide as this, whatever comes (stream-table.ts, dynamic-table.ts). */
const MAX_SLOTS = { closedStreams: 2_048, streams: 4_096, headerTable: 256 };

/** The state behind a connection: all its tables stay within their bounds and agree with one another. */
export function createTablesTarget(corpus: Corpus): Target {
  return {
    name: 'tables',
    make: (random) =>
      Buffer.concat([mutateSession(random, corpus), mutateSession(random, corpus).subarray(24)]),
    check(input, random) {
      const connection: ConnectionState = createConnectionState(
        ownerOf(() => connection),
        DEFAULT_HTTP2_OPTIONS,
      );
      let done = 0;
      for (const at of [...someCuts(random, input.length), input.length]) {
        receiveBytes(connection, input.subarray(done, at));
        done = at;
        checkState(connection);
      }
    },
  };
}

/** Answers every other request, with more than a window holds now and then. */
function ownerOf(connection: () => ConnectionState): Http2Events {
  const complete = (stream: Http2Stream, isComplete: boolean) => {
    if (!isComplete || stream.id % 4 === 3) return;
    const state = connection();
    const open =
      state.streams.slots.find((each) => each === stream) ?? state.streams.overflow.get(stream.id);
    if (open === undefined) throw new Error('a stream that is told of is not among the open ones');
    sendUnary(
      state,
      open,
      { headers: BLOCK, trailers: BLOCK },
      BODY.subarray(0, stream.id % 8 === 1 ? 80_000 : 20),
      COPY,
    );
  };
  return {
    onRequest: (stream, _headers, end) => {
      complete(stream, end);
    },
    onData: (stream, _bytes, _start, _end, end) => {
      complete(stream, end);
    },
    onTrailers: (stream) => {
      complete(stream, true);
    },
    onReset: () => undefined,
  };
}

function checkState(connection: ConnectionState): void {
  const { decoder, pendingHeaders, streams, closedStreams } = connection;
  const within = (what: string, value: number, most: number) => {
    if (value < 0 || value > most)
      throw new Error(`${what} is ${String(value)}, not within ${String(most)}`);
  };
  within('partial frame', connection.partialFrame.length, 2 * (MAX_FRAME_BYTES + 9));
  within('pending headers', pendingHeaders?.bytes.length ?? 0, 2 * MAX_BLOCK_BYTES);
  within('frames of the pending headers', pendingHeaders?.frames ?? 0, MAX_BLOCK_FRAMES);
  within('waiting replies', connection.waitingReplies, MAX_WAITING_REPLIES + 2);
  within('queued bytes', connection.queuedBytes, MAX_QUEUED_BYTES);
  within('open streams', streams.count, MAX_STREAMS_BEFORE_ACK);
  within('overflow streams', streams.overflow.size, streams.count);
  within('ring of streams', streams.slots.length, MAX_SLOTS.streams);
  within('closed streams', closedStreams.ids.length, MAX_SLOTS.closedStreams);
  within('header table', decoder.table.bytes, decoder.table.maxBytes);
  within('header table size', decoder.table.maxBytes, decoder.tableLimit);
  within('ring of header fields', decoder.table.ring.length, MAX_SLOTS.headerTable);
  within(
    'receive window',
    connection.receiveWindow + 1,
    DEFAULT_HTTP2_OPTIONS.connectionWindowBytes + 1,
  );
  within('send window', connection.sendWindow, MAX_WINDOW_BYTES);
  const buckets: readonly TokenBucket[] = Object.values(connection.buckets);
  for (const bucket of buckets) {
    within(bucket.budget.name, bucket.left, bucket.budget.burst);
  }
  checkQueues(connection, within);
}

function checkQueues(
  connection: ConnectionState,
  within: (what: string, value: number, most: number) => void,
): void {
  const open = listStreams(connection.streams);
  const queues = open.flatMap(({ queued }) => (queued === undefined ? [] : [queued]));
  const bytes = queues.reduce((sum, queued) => sum + queued.bytes, 0);
  if (bytes !== connection.queuedBytes) throw new Error('the queued bytes are counted wrongly');
  if (open.length !== connection.streams.count)
    throw new Error('the open streams are counted wrongly');
  const { waitingForStream, waitingForConnection } = connection;
  for (const stream of [...waitingForStream, ...waitingForConnection]) {
    if (stream.closed || stream.queued === undefined)
      throw new Error('a stream waits with nothing to send');
  }
  within('waiting streams', waitingForStream.size + waitingForConnection.size, queues.length);
  if (waitingForStream.size + waitingForConnection.size !== queues.length) {
    throw new Error('an answer is queued, and nobody waits for its window');
  }
}
