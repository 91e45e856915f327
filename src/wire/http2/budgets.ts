/**
 * What a peer may make us do for nothing. Each budget names the attack that it stops; an honest peer never comes
 * near. A breach ends the connection with GOAWAY ENHANCE_YOUR_CALM.
 */
export interface Budget {
  readonly name: string;
  /** So many at once. */
  readonly burst: number;
  /** So many come back each second. */
  readonly perSecond: number;
  /** So many come back with each answer that went out whole: who lets us work may talk more. */
  readonly perAnswer: number;
}

/**
 * Rapid reset (CVE-2023-44487): streams opened and reset at once, which no limit on open streams stops. Only young
 * resets count (RAPID_RESET_AGE_MS). Envoy resets a call at its time-out, 20 ms by default, and up to 1,024 of them
 * at once; when we stall they all look young, and so do those that it opened meanwhile: hence four times 1,024.
 */
export const RAPID_RESETS: Budget = {
  name: 'RAPID_RESETS',
  burst: 4096,
  perSecond: 1024,
  perAnswer: 1,
};
/** An older stream kept its place among the streams at once; its reset costs RESETS only. */
export const RAPID_RESET_AGE_MS = 5;

/**
 * Resets of streams of any age: without this budget, 1,024 streams at once that are reset at 5 ms are 204,800 calls a
 * second for nothing. A proxy resets every call that times out, for as long as the store is away: Envoy with 1,024 calls
 * at once and its time-out of 20 ms sends 51,200 resets a second, so 65,536 a second never run out. The burst is one
 * second of that, 16 times the 4,096 streams that may be open before the peer knows our limit.
 */
export const RESETS: Budget = {
  name: 'RESETS',
  burst: 65_536,
  perSecond: 65_536,
  perAnswer: 1,
};

/** Made you reset (CVE-2025-8671): frames whose answer is our own RST_STREAM, with the work already begun. */
export const PROVOKED_RESETS: Budget = {
  name: 'PROVOKED_RESETS',
  burst: 256,
  perSecond: 8,
  perAnswer: 0,
};

/** PING flood (CVE-2019-9512). Clients that measure their bandwidth send one per round trip that brings data. */
export const PINGS: Budget = { name: 'PINGS', burst: 1024, perSecond: 128, perAnswer: 2 };

/**
 * SETTINGS flood (CVE-2019-9515); a frame may also cost a look at every open stream. It costs one, and one more for each
 * SETTINGS_PER_TOKEN entries: clients send up to 8 of them, and a frame has room for 2,730.
 */
export const SETTINGS_FRAMES: Budget = {
  name: 'SETTINGS_FRAMES',
  burst: 64,
  perSecond: 8,
  perAnswer: 0,
};

export const SETTINGS_PER_TOKEN = 32;

/** Empty frames (CVE-2019-9518): DATA without an octet or an end, also when it is all padding. */
export const EMPTY_FRAMES: Budget = {
  name: 'EMPTY_FRAMES',
  burst: 128,
  perSecond: 16,
  perAnswer: 1,
};

/** Tiny windows (CVE-2019-9511, CVE-2019-9517): a WINDOW_UPDATE for every octet that we are to send. */
export const WINDOW_UPDATES: Budget = {
  name: 'WINDOW_UPDATES',
  burst: 4096,
  perSecond: 512,
  perAnswer: 4,
};

/**
 * Frames that are for nothing: PRIORITY (CVE-2019-9513), unknown types, whatever meets a stream that is over. An
 * honest peer's RST_STREAM crosses our answer, up to 1,024 at once.
 */
export const IGNORED_FRAMES: Budget = {
  name: 'IGNORED_FRAMES',
  burst: 4096,
  perSecond: 512,
  perAnswer: 4,
};

/**
 * Replies (PING and SETTINGS ACK, RST_STREAM, WINDOW_UPDATE) that wait for `takeOutput`, which the owner does not call
 * while the peer does not read (CVE-2019-9512, CVE-2019-9514, CVE-2019-9515: internal buffering).
 */
export const MAX_WAITING_REPLIES = 4096;

/** Answers that wait for the peer's windows, in octets (CVE-2019-9517: internal data buffering). */
export const MAX_QUEUED_BYTES = 1_048_576;

/** So long may an answer wait for the peer's window (zero-window stall, CVE-2019-9511): then its stream is reset. */
export const STALL_MS = 30_000;

/** So long may a frame, the preface or a header block take from its first octet to its last (slow loris). */
export const SLOW_FRAME_MS = 30_000;

/** CONTINUATION flood (CVE-2024-27316): frames of one header block, and its octets before decoding. */
export const MAX_BLOCK_FRAMES = 32;
export const MAX_BLOCK_BYTES = 65_536;

/**
 * HPACK bombs (CVE-2016-6581): a short block that means a long list. Beyond the limit the fields are counted but not
 * kept and the stream is refused; so many times beyond, the connection ends.
 */
export const LIST_BYTES_FACTOR = 16;

/** Streams at once before the peer has acknowledged our limit: it may not know it yet. */
export const MAX_STREAMS_BEFORE_ACK = 4096;

/** What is left of a budget on one connection. */
export interface Allowance {
  readonly budget: Budget;
  left: number;
  atMs: number;
  answers: number;
}

export function createAllowance(budget: Budget): Allowance {
  return { budget, left: budget.burst, atMs: 0, answers: 0 };
}

/** Takes `count`; false is a breach. `answers` is the connection's count of whole answers so far. */
export function spend(allowance: Allowance, nowMs: number, answers: number, count = 1): boolean {
  if (allowance.left < count) earn(allowance, nowMs, answers);
  if (allowance.left < count) return false;
  allowance.left -= count;
  return true;
}

/** Adds what came back since the last time; called only when too little is left. */
function earn(allowance: Allowance, nowMs: number, answers: number): void {
  const { budget } = allowance;
  const byTime = (Math.max(0, nowMs - allowance.atMs) * budget.perSecond) / 1000;
  const byAnswers = (answers - allowance.answers) * budget.perAnswer;
  allowance.left = Math.min(budget.burst, allowance.left + Math.floor(byTime + byAnswers));
  allowance.atMs = nowMs;
  allowance.answers = answers;
}
