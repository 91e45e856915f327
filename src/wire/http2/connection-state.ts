import { NO_BYTES } from '../bytes';
import type { Http2Events, Http2Failure, Http2Options, Http2Stream } from './api';
import {
  createTokenBucket,
  EMPTY_FRAMES,
  IGNORED_FRAMES,
  PINGS,
  PROVOKED_RESETS,
  RAPID_RESETS,
  RESETS,
  SETTINGS_FRAMES,
  WINDOW_UPDATES,
} from './budgets';
import { createClosedStreams, type ClosedStreams } from './closed-streams';
import { MAX_STREAM_ID } from './frames';
import { createHpackDecoder, type HpackDecoder } from './hpack/decoder';
import { createOutput, type Output } from './output';
import { createStreamTable, type StreamTable } from './stream-table';

/** Windows before any SETTINGS (RFC 9113 §6.9.2). */
export const INITIAL_WINDOW_BYTES = 65_535;
export const MAX_WINDOW_BYTES = 0x7fffffff;

/** The part of a response that waits for a window. */
export interface QueuedResponse {
  /** Bytes of DATA, from `at` of the first piece on. */
  readonly pieces: Uint8Array[];
  at: number;
  bytes: number;
  /** The block of the trailing HEADERS, which end the stream. */
  trailers: Uint8Array | undefined;
  /** The last byte of DATA ends the stream. */
  endsWithData: boolean;
  readonly sinceMs: number;
}

export interface StreamState extends Http2Stream {
  closed: boolean;
  /** The peer sent END_STREAM. */
  remoteClosed: boolean;
  /** The owner sent the end of the response, which may still be queued: nothing more is accepted. */
  localClosed: boolean;
  /** The window for what we send, minus the peer's current initial window (RFC 9113 §6.9.2). */
  sendWindowDelta: number;
  receiveWindow: number;
  /** Bytes received since the last WINDOW_UPDATE. */
  consumed: number;
  /** The value of content-length, or -1. */
  contentLength: number;
  bodyBytes: number;
  readonly openedAtMs: number;
  queued: QueuedResponse | undefined;
}

export const Phase = { preface: 0, settings: 1, open: 2, closed: 3 } as const;

/** HEADERS whose CONTINUATIONs have not all arrived (RFC 9113 §6.10). */
export interface PendingHeaders {
  readonly streamId: number;
  readonly endStream: boolean;
  readonly dependsOnItself: boolean;
  bytes: Uint8Array;
  length: number;
  frames: number;
  readonly sinceMs: number;
}

/** The state of one connection, changed by the functions of the files in this folder. */
export interface ConnectionState {
  readonly events: Http2Events;
  readonly options: Http2Options;
  phase: number;
  /** Whole milliseconds since `startMs`: small integers, cheap to keep per stream. */
  nowMs: number;
  startMs: number | undefined;

  /** The beginning of a frame (or of the preface) whose end has not arrived. */
  partialFrame: Uint8Array;
  partialLength: number;
  partialSinceMs: number;
  pendingHeaders: PendingHeaders | undefined;

  readonly decoder: HpackDecoder;
  readonly streams: StreamTable<StreamState>;
  readonly closedStreams: ClosedStreams;
  /** Ids above are idle (RFC 9113 §5.1.1). */
  highestSeenId: number;
  /** The last stream that we accepted, as GOAWAY reports it. */
  lastTakenId: number;
  /** After the last GOAWAY: streams above are ignored. */
  ignoreAboveId: number;
  requestCount: number;
  /** Responses sent to their end. */
  responseCount: number;

  /** The peer's preface and its SETTINGS have arrived. */
  prefaceReceived: boolean;
  settingsAcked: boolean;
  draining: boolean;
  lastGoAwaySent: boolean;
  peerLeaving: boolean;
  failure: Http2Failure | undefined;

  sendWindow: number;
  peerInitialWindow: number;
  /** The peer shrank our header table: our next block must reduce it to zero (RFC 7541 §4.2). */
  owesSizeUpdate: boolean;
  /** The table was reduced to zero, or is about to be. */
  tableAbandoned: boolean;
  readonly waitingForStream: Set<StreamState>;
  readonly waitingForConnection: Set<StreamState>;
  queuedBytes: number;
  /** The owner sent more than MAX_QUEUED_BYTES allows. */
  queueOverflowed: boolean;

  receiveWindow: number;
  consumed: number;
  /** Bytes of the WINDOW_UPDATEs that are still in the output. */
  pendingUpdate: number;

  readonly output: Output;
  /** Replies since the last `takeOutput`. */
  waitingReplies: number;
  readonly buckets: ReturnType<typeof createTokenBuckets>;
}

/** Handles the whole frame `bytes[at, end)`, its header included. */
export type ReceiveFrame = (
  connection: ConnectionState,
  bytes: Uint8Array,
  at: number,
  end: number,
) => void;

export function createConnectionState(events: Http2Events, options: Http2Options): ConnectionState {
  return {
    events,
    options,
    phase: Phase.preface,
    nowMs: 0,
    startMs: undefined,
    partialFrame: NO_BYTES,
    partialLength: 0,
    partialSinceMs: 0,
    pendingHeaders: undefined,
    decoder: createHpackDecoder(
      options.maxHeaderListBytes,
      options.cacheHeaderBlocks,
      options.headerReader,
    ),
    streams: createStreamTable<StreamState>(),
    closedStreams: createClosedStreams(),
    highestSeenId: 0,
    lastTakenId: 0,
    ignoreAboveId: MAX_STREAM_ID,
    requestCount: 0,
    responseCount: 0,
    prefaceReceived: false,
    settingsAcked: false,
    draining: false,
    lastGoAwaySent: false,
    peerLeaving: false,
    failure: undefined,
    sendWindow: INITIAL_WINDOW_BYTES,
    peerInitialWindow: INITIAL_WINDOW_BYTES,
    owesSizeUpdate: false,
    tableAbandoned: false,
    waitingForStream: new Set(),
    waitingForConnection: new Set(),
    queuedBytes: 0,
    queueOverflowed: false,
    receiveWindow: Math.max(options.connectionWindowBytes, INITIAL_WINDOW_BYTES),
    consumed: 0,
    pendingUpdate: 0,
    output: createOutput(),
    waitingReplies: 0,
    buckets: createTokenBuckets(),
  };
}

/** What is left of each budget (budgets.ts). */
function createTokenBuckets() {
  return {
    rapidResets: createTokenBucket(RAPID_RESETS),
    resets: createTokenBucket(RESETS),
    provokedResets: createTokenBucket(PROVOKED_RESETS),
    pings: createTokenBucket(PINGS),
    settings: createTokenBucket(SETTINGS_FRAMES),
    emptyFrames: createTokenBucket(EMPTY_FRAMES),
    windowUpdates: createTokenBucket(WINDOW_UPDATES),
    ignoredFrames: createTokenBucket(IGNORED_FRAMES),
  };
}
