import type { Http2Events, Http2Failure, Http2Options, Http2Stream } from './api';
import {
  createAllowance,
  EMPTY_FRAMES,
  IGNORED_FRAMES,
  PINGS,
  PROVOKED_RESETS,
  RAPID_RESETS,
  RESETS,
  SETTINGS_FRAMES,
  WINDOW_UPDATES,
  type Allowance,
} from './budgets';
import { createClosedStreams, type ClosedStreams } from './closed-streams';
import { MAX_STREAM_ID } from './frames';
import { createHpackDecoder, type HpackDecoder } from './hpack/decoder';
import { createOutput, type Output } from './output';
import { createStreamTable, type StreamTable } from './stream-table';

/** Windows before any SETTINGS (RFC 9113 §6.9.2). */
export const INITIAL_WINDOW_BYTES = 65_535;
export const MAX_WINDOW_BYTES = 0x7fffffff;

/** What a stream could not send yet. */
export interface QueuedAnswer {
  /** Octets of DATA, from `at` of the first piece on. */
  readonly pieces: Uint8Array[];
  at: number;
  bytes: number;
  /** The block of the trailing HEADERS, which end the stream. */
  trailers: Uint8Array | undefined;
  /** The last octet of DATA ends the stream. */
  endsWithData: boolean;
  readonly sinceMs: number;
}

export interface StreamState<S> extends Http2Stream<S> {
  closed: boolean;
  /** END_STREAM came. */
  remoteEnded: boolean;
  /** The answer's end was handed to us, though it may be queued: nothing more is taken. */
  answered: boolean;
  /** The window for what we send, less the peer's current initial window (RFC 9113 §6.9.2). */
  sendCredit: number;
  receiveWindow: number;
  /** Octets taken since the last WINDOW_UPDATE. */
  taken: number;
  /** What content-length promised, or -1. */
  contentLength: number;
  bodyBytes: number;
  readonly openedAtMs: number;
  queued: QueuedAnswer | undefined;
}

export const Phase = { preface: 0, settings: 1, open: 2, closed: 3 } as const;

/** HEADERS whose CONTINUATIONs have not all come yet (RFC 9113 §6.10). */
export interface OpenBlock {
  readonly streamId: number;
  readonly endStream: boolean;
  readonly dependsOnItself: boolean;
  bytes: Uint8Array;
  length: number;
  frames: number;
  readonly sinceMs: number;
}

/** What is left of each budget (budgets.ts). */
export interface Allowances {
  readonly rapidResets: Allowance;
  readonly resets: Allowance;
  readonly provokedResets: Allowance;
  readonly pings: Allowance;
  readonly settings: Allowance;
  readonly emptyFrames: Allowance;
  readonly windowUpdates: Allowance;
  readonly ignoredFrames: Allowance;
}

/** All that there is to know about one connection. The functions beside this file move it. */
export interface ConnectionState<S> {
  readonly events: Http2Events<S>;
  readonly options: Http2Options;
  phase: number;
  /** Whole milliseconds since `startMs`: small integers, cheap to keep per stream. */
  nowMs: number;
  startMs: number | undefined;

  /** The beginning of a frame (or of the preface) whose end has not come yet. */
  tail: Uint8Array;
  tailLength: number;
  tailSinceMs: number;
  openBlock: OpenBlock | undefined;

  readonly decoder: HpackDecoder;
  readonly streams: StreamTable<StreamState<S>>;
  readonly closedStreams: ClosedStreams;
  /** Ids above are idle (RFC 9113 §5.1.1). */
  highestSeenId: number;
  /** The last stream that we took on: what GOAWAY tells. */
  lastTakenId: number;
  /** After the last GOAWAY: streams above are ignored. */
  ignoreAboveId: number;
  requestCount: number;
  /** Answers that went out whole. */
  answerCount: number;

  /** The peer's preface and its SETTINGS have come. */
  prefaceReceived: boolean;
  settingsAcked: boolean;
  draining: boolean;
  lastGoAwaySent: boolean;
  peerLeaving: boolean;
  failure: Http2Failure | undefined;

  sendWindow: number;
  peerInitialWindow: number;
  /** The peer shrank our header table: our next block must say that we use none (RFC 7541 §4.2). */
  owesSizeUpdate: boolean;
  /** We have said so, or are about to. */
  tableAbandoned: boolean;
  readonly waitingForStream: Set<StreamState<S>>;
  readonly waitingForConnection: Set<StreamState<S>>;
  queuedBytes: number;
  /** More was to be queued than MAX_QUEUED_BYTES. */
  queueOverflown: boolean;

  receiveWindow: number;
  taken: number;
  /** WINDOW_UPDATEs in the output that nobody has taken yet. */
  granted: number;

  readonly output: Output;
  /** Replies since the last `takeOutput`. */
  waitingReplies: number;
  readonly allowances: Allowances;
}

const NO_OCTETS = new Uint8Array(0);

export function createConnectionState<S>(
  events: Http2Events<S>,
  options: Http2Options,
): ConnectionState<S> {
  return {
    events,
    options,
    phase: Phase.preface,
    nowMs: 0,
    startMs: undefined,
    tail: NO_OCTETS,
    tailLength: 0,
    tailSinceMs: 0,
    openBlock: undefined,
    decoder: createHpackDecoder(
      options.maxHeaderListBytes,
      options.cacheHeaderBlocks,
      options.headerReader,
    ),
    streams: createStreamTable<StreamState<S>>(),
    closedStreams: createClosedStreams(),
    highestSeenId: 0,
    lastTakenId: 0,
    ignoreAboveId: MAX_STREAM_ID,
    requestCount: 0,
    answerCount: 0,
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
    queueOverflown: false,
    receiveWindow: Math.max(options.connectionWindowBytes, INITIAL_WINDOW_BYTES),
    taken: 0,
    granted: 0,
    output: createOutput(),
    waitingReplies: 0,
    allowances: createAllowances(),
  };
}

function createAllowances(): Allowances {
  return {
    rapidResets: createAllowance(RAPID_RESETS),
    resets: createAllowance(RESETS),
    provokedResets: createAllowance(PROVOKED_RESETS),
    pings: createAllowance(PINGS),
    settings: createAllowance(SETTINGS_FRAMES),
    emptyFrames: createAllowance(EMPTY_FRAMES),
    windowUpdates: createAllowance(WINDOW_UPDATES),
    ignoredFrames: createAllowance(IGNORED_FRAMES),
  };
}
