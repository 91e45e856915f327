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
import { createClosedStreams, createStreamTable } from './stream-table';
import { MAX_STREAM_ID } from './frames';
import { createHpackDecoder } from './hpack/decoder';
import { createOutput } from './output';

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

/** Handles the whole frame `bytes[at, end)`, its header included. */
export type ReceiveFrame = (
  connection: ConnectionState,
  bytes: Uint8Array,
  at: number,
  end: number,
) => void;

/** The state of one connection, changed by the functions of the files in this folder. */
export function createConnectionState(events: Http2Events, options: Http2Options) {
  return {
    events,
    options,
    phase: Phase.preface as number,
    /** Whole milliseconds since `startMs`: small integers, cheap to keep per stream. */
    nowMs: 0,
    startMs: undefined as number | undefined,

    /** The beginning of a frame (or of the preface) whose end has not arrived. */
    partialFrame: NO_BYTES,
    partialLength: 0,
    partialSinceMs: 0,
    pendingHeaders: undefined as PendingHeaders | undefined,

    decoder: createHpackDecoder(
      options.maxHeaderListBytes,
      options.cacheHeaderBlocks,
      options.headerReader,
    ),
    streams: createStreamTable<StreamState>(),
    closedStreams: createClosedStreams(),
    /** Ids above are idle (RFC 9113 §5.1.1). */
    highestSeenId: 0,
    /** The last stream that we accepted, as GOAWAY reports it. */
    lastTakenId: 0,
    /** After the last GOAWAY: streams above are ignored. */
    ignoreAboveId: MAX_STREAM_ID,
    requestCount: 0,
    /** Responses sent to their end. */
    responseCount: 0,

    /** The peer's preface and its SETTINGS have arrived. */
    prefaceReceived: false,
    settingsAcked: false,
    draining: false,
    lastGoAwaySent: false,
    peerLeaving: false,
    failure: undefined as Http2Failure | undefined,

    sendWindow: INITIAL_WINDOW_BYTES,
    peerInitialWindow: INITIAL_WINDOW_BYTES,
    /** The peer shrank our header table: our next block must reduce it to zero (RFC 7541 §4.2). */
    owesSizeUpdate: false,
    /** The table was reduced to zero, or is about to be. */
    tableAbandoned: false,
    waitingForStream: new Set<StreamState>(),
    waitingForConnection: new Set<StreamState>(),
    queuedBytes: 0,
    /** The owner sent more than MAX_QUEUED_BYTES allows. */
    queueOverflowed: false,

    receiveWindow: Math.max(options.connectionWindowBytes, INITIAL_WINDOW_BYTES),
    consumed: 0,
    /** Bytes of the WINDOW_UPDATEs that are still in the output. */
    pendingUpdate: 0,

    output: createOutput(),
    /** Replies since the last `takeOutput`. */
    waitingReplies: 0,
    buckets: createTokenBuckets(),
  };
}

export type ConnectionState = ReturnType<typeof createConnectionState>;

/** The rest of each budget (budgets.ts). */
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
